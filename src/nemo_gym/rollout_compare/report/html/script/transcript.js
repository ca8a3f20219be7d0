// Two transcripts side by side: equal steps in one row, the parting marked once, long texts folded.

const FOLDED_LINES = 7;
const FOLDED_LENGTH = 700;
const MANY_EQUAL = 6;

// What counts as a step of an agent: its calls and its answer; where no tools are called, all that it said.
function actsOf(steps, tools) {
  const said = steps.filter((one) => one.role === 'assistant' && one.tool === null && one.text.trim());
  return new Set(tools ? [...steps.filter((one) => one.role === 'assistant' && one.tool !== null), ...said.slice(-1)] : said);
}

function squeezed(text) {
  return (text || '').replace(/\s+/g, ' ').trim();
}

function alike(old, after) {
  if (!old || !after || old.tool !== after.tool) return false;
  return old.tool === null ? old.role === after.role && squeezed(old.text) === squeezed(after.text) : squeezed(old.args) === squeezed(after.args);
}

function step(told) {
  if (!told) return null;
  const [role, text, tool, args, output] = told;
  return { role, text: text || '', tool: tool || null, args: spelled(args || ''), output: output || '' };
}

// What a tool was called with: of an object with one text that text, of another its fields by name.
function spelled(args) {
  let held;
  try {
    held = JSON.parse(args);
  } catch {
    return args;
  }
  if (held === null || typeof held !== 'object' || Array.isArray(held)) return args;
  const fields = Object.entries(held);
  if (fields.length === 1 && typeof fields[0][1] === 'string') return fields[0][1].replace(/\n$/, '');
  return fields.map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`).join('\n');
}

function folded(text, what) {
  const lines = text.split('\n').length;
  if (lines <= FOLDED_LINES && text.length <= FOLDED_LENGTH) return h('pre', null, text);
  const details = h('details', null, h('summary', null, `${counted(lines, 'line')} of ${what}`));
  details.addEventListener('toggle', () => details.open && details.childNodes.length === 1 && details.append(h('pre', null, text)));
  return details;
}

function stepCell(one, kind, name) {
  if (!one) return h('div', { class: 'only-wide' });
  const who = one.tool || { assistant: 'agent', tool: 'output', reasoning: 'thinking' }[one.role] || one.role;
  return h('div', { class: `step ${kind}` },
    h('div', { class: 'who' }, h('span', { class: 'side-name' }, `${name} `), who),
    one.text ? folded(one.text, one.role === 'tool' ? 'output' : 'text') : null,
    one.args ? folded(one.args, 'arguments') : null,
    one.output ? h('div', { class: 'out' }, folded(one.output, 'output')) : null);
}

function transcripts(task) {
  const both = data.transcripts[task.number];
  if (!both) return null;
  const [olds, news] = [both.old.map(step), both.new.map(step)];
  const pairs = both.rows.map(([i, j]) => [i === null ? null : olds[i], j === null ? null : news[j]]);
  const tools = [...olds, ...news].some((one) => one.tool !== null);
  const acts = new Set([...actsOf(olds, tools), ...actsOf(news, tools)]);
  const isAct = ([old, after]) => acts.has(old) || acts.has(after);
  const parting = pairs.findIndex((pair) => isAct(pair) && !alike(...pair));
  const steps = pairs.map(isAct).reduce((all, act) => [...all, (all.at(-1) || 0) + act], []);
  const grid = h('div', { class: 'steps' });
  const [loser, winner] = task.fate === 'lost' ? ['new', 'old'] : ['old', 'new'];
  const kind = (name, same) => (same ? 'same' : name === loser ? 'l' : name === winner ? 'w' : '');
  const add = ([old, after], index, before) => {
    const same = alike(old, after);
    const past = parting >= 0 && index >= parting && isAct(pairs[index]);
    const cells = [h('span', { class: 'at' }, isAct(pairs[index]) ? String(steps[index]) : ''), stepCell(old, kind('old', same || !past), 'old'), stepCell(after, kind('new', same || !past), 'new')];
    for (const cell of cells) grid.insertBefore(cell, before || null);
  };
  const shown = parting < 0 ? 0 : Math.max(0, parting - 2);
  const fold = shown > MANY_EQUAL;
  if (fold) {
    const button = h('button', { type: 'button', class: 'plain', onclick: () => {
      pairs.slice(0, shown).forEach((pair, index) => add(pair, index, holder));
      holder.remove();
    } }, `${counted(shown, 'step')} before, much the same`);
    const holder = h('div', { class: 'fold' }, button);
    grid.append(holder);
  }
  pairs.forEach((pair, index) => {
    if (fold && index < shown) return;
    if (index === parting) grid.append(h('div', { class: 'part', id: 'parting' }, 'parted here'));
    add(pair, index);
  });
  const [told] = task.flip.parted || [parting < 0 ? 'both agents did the same' : `parted at step ${steps[parting]}`];
  const names = h('div', { class: 'steps only-wide' }, h('span'), sideHead('old', task), sideHead('new', task));
  return [h('h3', null, `What the agents did: ${told}`), names, grid];
}

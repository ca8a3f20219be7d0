// Two transcripts side by side: equal steps in one row, the parting marked once, long texts folded.

const FOLDED_LINES = 7;
const FOLDED_LENGTH = 700;
const MANY_EQUAL = 6;

function acts(step) {
  return step && (step.tool !== null || step.role === 'assistant');
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
  return { role, text: text || '', tool: tool || null, args: args || '', output: output || '' };
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
  const parting = pairs.findIndex(([old, after]) => (acts(old) || acts(after)) && !alike(old, after));
  const grid = h('div', { class: 'steps' });
  const [loser, winner] = task.fate === 'lost' ? ['new', 'old'] : ['old', 'new'];
  const kind = (name, same) => (same ? 'same' : name === loser ? 'l' : name === winner ? 'w' : '');
  const add = ([old, after], index, before) => {
    const same = alike(old, after);
    const past = parting >= 0 && index >= parting;
    const cells = [h('span', { class: 'at' }, String(index + 1)), stepCell(old, kind('old', same || !past), 'old'), stepCell(after, kind('new', same || !past), 'new')];
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
  const where = parting < 0 ? 'both did the same' : `parted at step ${parting + 1}`;
  const names = h('div', { class: 'steps only-wide' }, h('span'), sideHead('old', task), sideHead('new', task));
  return [h('h3', null, `What the agents did: ${olds.length} and ${counted(news.length, 'step')}, ${where}`), names, grid];
}

// One task: what became of it, and for a flip why.

const MOST_SETTINGS = 15;
const TELLING = /^(E\s{2,}|FAILED |ERROR )|\b\w*(Error|Exception)\b: |^panic|^thread '.*' panicked|AssertionError/;

function sideHead(name, task, source) {
  const won = task.fate === 'won' ? name === 'new' : name === 'old';
  const flipped = task.fate === 'lost' || task.fate === 'won';
  const told = flipped ? `${won ? 'better' : 'worse'}, reward ${reward(task[name])}` : `reward ${reward(task[name])}`;
  return h('div', { class: `side ${flipped ? (won ? 'w' : 'l') : ''}` }, h('span', null, h('b', null, name), `, ${told}`), source ? h('span', null, source) : null);
}

function evidence(name, task) {
  const told = task.flip[name];
  const parts = [sideHead(name, task, told && told.source)];
  if (told && told.why) parts.push(h('p', { class: 'said' }, told.lines.length ? `Passed over: ${told.why}` : `No output: ${told.why}`));
  if (told && told.lines.length) {
    const lines = told.lines.flatMap((text) => [TELLING.test(text) ? h('mark', null, text) : text, '\n']);
    parts.push(h('pre', { tabindex: '0', 'aria-label': `Verifier output of the ${name} run` }, lines.slice(0, -1)));
  }
  const worse = task.fate === (name === 'new' ? 'lost' : 'won');
  return h('div', { class: worse ? 'worse' : null }, parts);
}

// Where both rows lack output for one reason, it is said once.
function verifiers(task) {
  const { old, new: after } = task.flip;
  if (!old && !after) return null;
  const why = old && after && !old.lines.length && !after.lines.length && old.why === after.why ? old.why : null;
  const said = why ? h('p', { class: 'said' }, `No output on either side: ${why}`) : h('div', { class: 'two' }, evidence('old', task), evidence('new', task));
  return [h('h3', null, 'What the verifiers said'), said];
}

function tests(names, title, sign, fate) {
  if (!names.length) return null;
  const shown = names.slice(0, 200);
  const items = shown.map((name) => h('li', null, h('span', { class: fate, 'aria-hidden': 'true' }, `${sign} `), name));
  const more = names.length > shown.length ? h('li', { class: 'soft' }, `and ${names.length - shown.length} more`) : null;
  return [h('h3', null, `${title} (${names.length})`), h('ul', { class: 'tests' }, items, more)];
}

function company(task) {
  const cause = causes.get(task.number);
  if (!task.flip) return null;
  if (cause === undefined) return task.flip.signature ? h('p', { class: 'cause' }, task.flip.signature) : null;
  const [signature, members] = data.clusters[cause];
  const others = members.length - 1;
  if (!others) return h('p', { class: 'cause' }, signature);
  const link = h('a', { href: linkTo({ only: `cause:${cause}`, show: [], q: '', group: '' }), onclick: (event) => {
    event.preventDefault();
    go({ only: `cause:${cause}`, show: [], q: '', group: '', ...(phone() ? { task: null } : {}) }, true);
  } }, `as in ${counted(others, 'other task')}`);
  return h('p', { class: 'cause' }, `${causeName(cause)}, `, link);
}

function settings(told) {
  if (!told.length) return null;
  const pairs = told.map((number) => data.settings[number]);
  const [first, rest] = [pairs.slice(0, MOST_SETTINGS), pairs.slice(MOST_SETTINGS)];
  const more = rest.length ? h('details', { class: 'more' }, h('summary', null, `and ${counted(rest.length, 'more setting')}`), pairsOf(rest)) : null;
  return [h('h3', null, `Settings that differ (${pairs.length})`), pairsOf(first), more];
}

function groupsOf(task) {
  return data.groups.map(([field, names, places]) => `${field}: ${names[places[task.number]] || "''"}`).join(', ');
}

function against_it(name, told) {
  if (!told) return [];
  return [
    told.masked && `The ${name} run is masked: ${told.masked}`,
    told.error && `Agent error in the ${name} run: ${told.error}. Run it again before you count it.`,
    told.failure && `The ${name} run was scored with failure kind ${told.failure}`,
  ].filter(Boolean);
}

function drawTask() {
  const place = byId('task');
  place.replaceChildren();
  if (state.task === null) {
    place.append(h('p', { class: 'soft' }, tasks.length ? 'Choose a task.' : 'There are no tasks.'));
    return;
  }
  const task = tasks[state.task];
  const flip = task.flip;
  const rewards = ['old', 'new'].filter((name) => task[name]).map((name) => `${name} ${task[name].text}${task[name].rows > 1 && !task[name].text.includes('/') ? ` (mean of ${task[name].rows})` : ''}`);
  const index = list.order.indexOf(task.number);
  const turn = (by, text) => h('button', { type: 'button', class: 'plain', disabled: list.order[index + by] === undefined, onclick: () => move(by) }, text);
  place.append(
    h('div', { class: 'back' }, h('button', { type: 'button', class: 'plain', onclick: () => go({ task: null }, true) }, '← All tasks'), h('span', null, turn(-1, 'previous'), ' ', turn(1, 'next'))),
    h('h2', { id: 'title', tabindex: '-1' }, task.label),
    h('p', { class: 'sub' }, h('b', { class: task.fate }, `${SIGNS[task.fate]} ${sentence(task)}`), ` Reward: ${rewards.join(', ')}.`));
  const fill = (parts) => place.append(...[parts].flat(2).filter(Boolean));
  if (data.groups.length) fill(h('p', { class: 'groups' }, groupsOf(task)));
  fill(company(task));
  if (flip && flip.same_answer) fill(h('p', { class: 'said' }, 'Both sides end in the same answer: the verifier disagrees with itself.'));
  if (flip && flip.repeats) fill(h('p', { class: 'said' }, flip.repeats));
  for (const name of ['old', 'new']) fill(against_it(name, task[name]).map((text) => h('p', { class: 'said' }, text)));
  if (differ.has(task.number)) fill(h('p', { class: 'said' }, 'The two runs were asked differently, though the task has one name.'));
  for (const [before, after, members] of data.other_reasons) {
    if (members.includes(task.number)) fill(h('p', { class: 'said' }, `It fails on both sides, for another reason: old ${before}; new ${after}`));
  }
  if (!flip) return;
  fill(tests(flip.broken, 'Broken tests', '✕', 'lost'));
  fill(tests(flip.fixed, 'Fixed tests', '✓', 'won'));
  fill(tests(flip.not_run, 'Tests that did not run', '–', 'soft'));
  fill(tests(flip.rates, 'Tests passed in other shares of the attempts', '~', 'soft'));
  fill(verifiers(task));
  fill(settings(flip.settings));
  const both = transcripts(task);
  fill(both || (flip.parted ? [h('h3', null, 'What the agents did'), flip.parted.map((text) => h('p', { class: 'said' }, text))] : null));
}

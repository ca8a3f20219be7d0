// What is shown: kept in the address after the #, so that a link leads to it.

const data = JSON.parse(byId('data').textContent);
const FATES = ['lost', 'won', 'masked', 'missing', 'identical'];

const tasks = data.tasks.map(([label, category, winner, before, after], number) => {
  const name = data.categories[category];
  const fate = winner === 'old' ? 'lost' : winner === 'new' ? 'won' : name;
  return { number, label, name, fate, old: side(before), new: side(after), flip: data.flips[number] || null };
});
const numbers = new Map(tasks.map((task) => [task.label, task.number]).reverse());
const differ = new Set(data.differ);
const causes = new Map();
for (const [index, [, members]] of data.clusters.entries()) {
  for (const number of members) causes.set(number, index);
}

function side(told) {
  if (!told) return null;
  const [reward, text, rows, masked, error, failure] = told;
  return { reward, text, rows, masked: masked || null, error: error || null, failure: failure || null };
}

function change(task) {
  const { old, new: after } = task;
  if (!old || !after || old.reward === null || after.reward === null) return null;
  return task.name === 'masked' ? null : after.reward - old.reward;
}

const state = { task: null, q: '', show: [], only: '', sort: 'cause' };

function readState() {
  const told = new URLSearchParams(location.hash.slice(1));
  const label = told.get('task');
  state.task = label !== null && numbers.has(label) ? numbers.get(label) : null;
  state.q = told.get('q') || '';
  state.show = (told.get('show') || '').split(',').filter((fate) => FATES.includes(fate));
  state.only = told.get('only') || '';
  state.sort = SORTS.some(([key]) => key === told.get('sort')) ? told.get('sort') : 'cause';
}

function linkTo(changes) {
  const next = { ...state, ...changes };
  const told = new URLSearchParams();
  if (next.q) told.set('q', next.q);
  if (next.show.length) told.set('show', next.show.join(','));
  if (next.only) told.set('only', next.only);
  if (next.sort !== 'cause') told.set('sort', next.sort);
  if (next.task !== null) told.set('task', tasks[next.task].label);
  return '#' + told.toString();
}

// Narrowing the list replaces the address; opening a task is a step that "back" undoes.
function go(changes, step) {
  const link = linkTo(changes);
  Object.assign(state, changes);
  if (step && link !== location.hash) history.pushState(null, '', link);
  else history.replaceState(null, '', link);
  show();
}

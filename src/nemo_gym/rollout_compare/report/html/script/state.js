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

// Errors of one form may have nothing else in common.
function causeName(index) {
  const [signature, , form] = data.clusters[index];
  return form ? `same form of error: ${signature}` : signature;
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

// Groups of tasks, by what a link calls them: those of a field with most tasks by name, all smaller ones together.
const MOST_GROUPS = 100;
const groups = new Map();
for (const [field, names, places] of data.groups) {
  const members = names.map((name) => ({ name, field, tasks: new Set() }));
  places.forEach((place, number) => members[place].tasks.add(number));
  const ranked = members.filter((one) => one.tasks.size).sort((a, b) => b.tasks.size - a.tasks.size || (a.name < b.name ? -1 : 1));
  for (const one of ranked.slice(0, MOST_GROUPS)) groups.set(`${field}:${one.name}`, one);
  const rest = ranked.slice(MOST_GROUPS);
  if (rest.length) groups.set(field, { name: `${rest.length.toLocaleString('en')} others`, field, tasks: new Set(rest.flatMap((one) => [...one.tasks])) });
}

const state = { task: null, q: '', show: [], only: '', group: '', sort: 'cause' };

function readState() {
  const told = new URLSearchParams(location.hash.slice(1));
  const label = told.get('task');
  state.task = label !== null && numbers.has(label) ? numbers.get(label) : null;
  state.q = told.get('q') || '';
  state.show = (told.get('show') || '').split(',').filter((fate) => FATES.includes(fate));
  state.only = told.get('only') || '';
  state.group = groups.has(told.get('in')) ? told.get('in') : '';
  state.sort = SORTS.some(([key]) => key === told.get('sort')) ? told.get('sort') : 'cause';
}

function linkTo(changes) {
  const next = { ...state, ...changes };
  const told = new URLSearchParams();
  if (next.q) told.set('q', next.q);
  if (next.show.length) told.set('show', next.show.join(','));
  if (next.only) told.set('only', next.only);
  if (next.group) told.set('in', next.group);
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

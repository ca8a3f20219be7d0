// The list of tasks. Only the rows in sight exist; each has its place among all.

const SORTS = [['cause', 'cause'], ['change', 'largest change'], ['task', 'task'], ['old', 'old reward'], ['new', 'new reward']];
const ONLY = {
  'side:masked-old': ['masked, old side', (task) => Boolean(task.name === 'masked' && task.old && task.old.masked)],
  'side:masked-new': ['masked, new side', (task) => Boolean(task.name === 'masked' && task.new && task.new.masked)],
  'side:missing-old': ['only in the old run', (task) => task.name === 'missing' && Boolean(task.old)],
  'side:missing-new': ['only in the new run', (task) => task.name === 'missing' && Boolean(task.new)],
  error: ['with agent errors', (task) => Boolean((task.old && task.old.error) || (task.new && task.new.error))],
  beyond: ['flips beyond noise', (task) => Boolean(task.flip && !task.flip.noise)],
  noise: ['flips within noise', (task) => Boolean(task.flip && task.flip.noise)],
  differ: ['inputs that differ', (task) => differ.has(task.number)],
};
const [MAY_BE_CUT, UNCUT] = [20, 9];
const list = { entries: [], order: [], drawn: new Map(), height: 30, haystacks: [] };

function haystack(task) {
  if (!list.haystacks[task.number]) {
    const flip = task.flip || { signature: '', broken: [], fixed: [], not_run: [] };
    const said = [task.old, task.new].flatMap((told) => (told ? [told.masked, told.error, told.failure] : []));
    list.haystacks[task.number] = [task.label, task.fate, flip.signature, ...flip.broken, ...flip.fixed, ...flip.not_run, ...said].filter(Boolean).join('\n').toLowerCase();
  }
  return list.haystacks[task.number];
}

function chosen() {
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const [kind, value] = state.only.split(':');
  const only = ONLY[state.only] ? ONLY[state.only][1]
    : kind === 'cause' ? (task) => causes.get(task.number) === Number(value)
    : () => true;
  const group = groups.get(state.group);
  return tasks.filter((task) => (!group || group.tasks.has(task.number)) && (!state.show.length || state.show.includes(task.fate)) && only(task) && words.every((word) => haystack(task).includes(word)));
}

function sorted(found) {
  const value = (told) => (told && told.reward !== null ? told.reward : Number.MAX_VALUE);
  const compare = (a, b) => Math.sign(value(a) - value(b));
  const by = {
    change: (a, b) => Math.abs(change(b) || 0) - Math.abs(change(a) || 0) || a.number - b.number,
    task: (a, b) => a.number - b.number,
    old: (a, b) => compare(a.old, b.old) || a.number - b.number,
    new: (a, b) => compare(a.new, b.new) || a.number - b.number,
  }[state.sort];
  return by ? found.sort(by) : grouped(found);
}

// Tasks by cause: those that several flips share first, then flips without company, then what is no flip.
function grouped(found) {
  const groups = new Map();
  const add = (key, rank, title, task) => {
    if (!groups.has(key)) groups.set(key, { rank, title, members: [] });
    groups.get(key).members.push(task);
  };
  for (const task of found) {
    const cause = causes.get(task.number);
    if (task.flip && cause !== undefined && data.clusters[cause][1].length > 1) {
      const lost = data.clusters[cause][1].some((number) => tasks[number].fate === 'lost');
      add(`cause ${cause}`, [lost ? 0 : 2, cause], causeName(cause), task);
    } else if (task.flip && task.flip.noise) add(`noise ${task.fate}`, [4, FATES.indexOf(task.fate)], 'within noise', task);
    else if (task.flip) add(task.fate, [task.fate === 'lost' ? 1 : 3, 0], 'no cause in common', task);
    else add(task.fate, [5, FATES.indexOf(task.fate)], '', task);
  }
  const order = [...groups.values()].sort((a, b) => a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1]);
  for (const { members } of order) members.sort((a, b) => FATES.indexOf(a.fate) - FATES.indexOf(b.fate) || a.number - b.number);
  return order.flatMap((group) => [`${fates(group.members)}${group.title && `: ${group.title}`}`, ...group.members]);
}

function fates(members) {
  const counts = FATES.map((fate) => [members.filter((task) => task.fate === fate).length, fate]).filter(([number]) => number);
  return counts.map(([number, fate]) => `${number.toLocaleString('en')} ${fate}`).join(', ');

}

function refill() {
  const found = chosen();
  list.entries = sorted(found);
  list.order = list.entries.filter((entry) => typeof entry !== 'string').map((task) => task.number);
  list.height = matchMedia('(max-width: 860px)').matches ? 40 : 30;
  for (const row of list.drawn.values()) row.remove();
  list.drawn.clear();
  list.room.style.height = `${list.entries.length * list.height}px`;
  list.table.setAttribute('aria-rowcount', String(list.entries.length + 1));
  list.none.hidden = list.entries.length > 0;
  const number = found.length === tasks.length ? counted(tasks.length, 'task') : `${found.length.toLocaleString('en')} of ${counted(tasks.length, 'task')}`;
  list.found.textContent = number;
  drawRows();
}

function drawRows() {
  const first = Math.max(0, Math.floor(list.scroll.scrollTop / list.height) - 8);
  const last = Math.min(list.entries.length, Math.ceil((list.scroll.scrollTop + (list.scroll.clientHeight || 600)) / list.height) + 8);
  for (const [index, row] of list.drawn) {
    if ((index < first || index >= last) && !row.contains(document.activeElement)) {
      row.remove();
      list.drawn.delete(index);
    }
  }
  for (let index = first; index < last; index += 1) {
    if (!list.drawn.has(index)) {
      const row = drawRow(list.entries[index], index);
      row.style.top = `${index * list.height}px`;
      list.drawn.set(index, row);
      const next = [...list.drawn.keys()].filter((other) => other > index).sort((a, b) => a - b)[0];
      list.room.insertBefore(row, next === undefined ? null : list.drawn.get(next));
    }
  }
}

// A label that may be too long for its room is cut before its end: the ends are what tells labels apart.
function cutLabel(label) {
  const characters = [...label];
  if (characters.length <= MAY_BE_CUT) return [label];
  return [h('span', { class: 'start' }, characters.slice(0, -UNCUT).join('')), h('span', { class: 'end' }, characters.slice(-UNCUT).join(''))];
}

function drawRow(entry, index) {
  const place = { role: 'row', 'aria-rowindex': String(index + 2) };
  if (typeof entry === 'string') {
    return h('div', { ...place, class: 'group', title: entry }, h('span', { role: 'cell', 'aria-colspan': '4' }, entry));
  }
  const error = (entry.old && entry.old.error) || (entry.new && entry.new.error);
  const noise = entry.flip && entry.flip.noise;
  const told = [entry.fate, error && 'agent error', noise && 'within noise'].filter(Boolean).join(', ');
  return h('div', { ...place, class: `tr${noise ? ' pale' : ''}`, 'aria-selected': state.task === entry.number ? 'true' : null, 'data-task': String(entry.number) },
    h('span', { role: 'cell', class: `sign ${entry.fate}`, title: told }, h('span', { 'aria-hidden': 'true' }, SIGNS[entry.fate]), h('span', { class: 'unseen' }, told)),
    h('span', { role: 'cell', class: 'task' }, h('a', { href: linkTo({ task: entry.number }), title: entry.label, 'aria-label': `${entry.label}${error ? ' !' : ''}`, onclick: (event) => openTask(event, entry.number) }, cutLabel(entry.label), error ? h('span', { class: 'end' }, '\u00a0!') : '')),
    h('span', { role: 'cell', class: 'r', title: entry.old ? entry.old.text : null }, reward(entry.old)),
    h('span', { role: 'cell', class: 'r', title: entry.new ? entry.new.text : null }, reward(entry.new)));
}

function openTask(event, number) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go({ task: number }, true);
}

function markSelected() {
  for (const row of list.room.querySelectorAll('[data-task]')) {
    const selected = Number(row.dataset.task) === state.task;
    if (selected) row.setAttribute('aria-selected', 'true');
    else row.removeAttribute('aria-selected');
    row.querySelector('a').setAttribute('href', linkTo({ task: Number(row.dataset.task) }));
  }
}

function bringIntoSight(number) {
  const index = list.entries.findIndex((entry) => typeof entry !== 'string' && entry.number === number);
  if (index < 0) return;
  const [top, room] = [index * list.height, list.scroll.clientHeight];
  if (top < list.scroll.scrollTop + list.height) list.scroll.scrollTop = Math.max(0, top - list.height);
  else if (top + list.height > list.scroll.scrollTop + room) list.scroll.scrollTop = top + 2 * list.height - room;
  drawRows();
}

function drawTools() {
  const counts = Object.fromEntries(FATES.map((fate) => [fate, tasks.filter((task) => task.fate === fate).length]));
  const option = (value, text) => h('option', { value, selected: state.only === value }, text);
  const group = (title, options) => (options.length ? h('optgroup', { label: title }, options) : null);
  const shared = data.clusters.map(([signature, members], index) => [signature, members, index]).filter(([, members]) => members.length > 1);
  list.search = h('input', { type: 'search', placeholder: 'Search tasks, errors, tests', 'aria-label': 'Search', oninput: () => go({ q: list.search.value }) });
  list.chips = FATES.filter((fate) => counts[fate]).map((fate) =>
    h('button', { type: 'button', 'data-fate': fate, onclick: () => go({ show: state.show.includes(fate) ? state.show.filter((one) => one !== fate) : [...state.show, fate] }) },
      h('span', { 'aria-hidden': 'true', class: `sign ${fate}` }, ''), `${fate} ${counts[fate].toLocaleString('en')}`));
  list.only = h('select', { 'aria-label': 'Narrow to', onchange: () => go({ only: list.only.value }) },
    option('', 'all of these'),
    group('Kind', Object.entries(ONLY).filter(([, [, test]]) => tasks.some(test)).map(([value, [text]]) => option(value, text))),
    group('Cause', shared.map(([signature, members, index]) => option(`cause:${index}`, `${signature.slice(0, 80)} (${members.length})`))));
  const named = (field) => [...groups].filter(([, one]) => one.field === field).map(([key, one]) => h('option', { value: key }, `${(one.name || "''").slice(0, 80)} (${one.tasks.size.toLocaleString('en')})`));
  list.group = groups.size ? h('select', { 'aria-label': 'Group', onchange: () => go({ group: list.group.value }) },
    h('option', { value: '' }, 'all groups'), data.groups.map(([field]) => h('optgroup', { label: field }, named(field)))) : null;
  list.sort = h('select', { 'aria-label': 'Sorted by', onchange: () => go({ sort: list.sort.value }) }, SORTS.map(([value, text]) => h('option', { value }, `by ${text}`)));
  list.room = h('div', { class: 'room', role: 'rowgroup' });
  list.scroll = h('div', { class: 'scroll', role: 'presentation', onscroll: () => requestAnimationFrame(drawRows) }, list.room);
  const heads = ['What became of it', 'Task', 'Old', 'New'].map((text, index) => h('span', { role: 'columnheader' }, index ? text : h('span', { class: 'unseen' }, text)));
  list.table = h('div', { class: 'table', role: 'table', 'aria-label': 'Tasks' },
    h('div', { role: 'rowgroup' }, h('div', { role: 'row', 'aria-rowindex': '1', class: 'heads' }, heads)), list.scroll);
  list.none = h('p', { class: 'none', hidden: true }, 'No task matches. ', h('button', { type: 'button', class: 'plain', onclick: () => go({ q: '', show: [], only: '', group: '' }) }, 'Show all'));
  list.found = h('span', { id: 'found' });
  byId('tasks').append(
    h('div', { class: 'tools' }, list.search, h('div', { class: 'chips', role: 'group', 'aria-label': 'What became of the tasks' }, list.chips), list.group, h('div', { class: 'row' }, list.only, list.sort)),
    list.none, list.table,
    h('p', { class: 'foot' }, list.found, h('span', { class: 'keys' }, h('kbd', null, 'j'), ' ', h('kbd', null, 'k'), ' next, previous  ', h('button', { type: 'button', class: 'plain', onclick: () => byId('help').showModal() }, 'keys'))));
}

function showTools() {
  if (list.search.value !== state.q) list.search.value = state.q;
  list.only.value = state.only;
  list.sort.value = state.sort;
  if (list.group) list.group.value = state.group;
  for (const chip of list.chips) chip.setAttribute('aria-pressed', String(state.show.includes(chip.dataset.fate)));
}

// Keys: j and k go through the list, / searches, Enter reads the task, Escape goes back to the list.

const KEYS = [['j, k', 'next and previous task'], ['/', 'search'], ['Enter', 'read the task'], ['Escape', 'back to the list; in the search: clear it'], ['?', 'these keys']];

function phone() {
  return matchMedia('(max-width: 860px)').matches;
}

function move(by) {
  const at = list.order.indexOf(state.task);
  const next = list.order[at < 0 ? (by > 0 ? 0 : list.order.length - 1) : at + by];
  if (next === undefined) return;
  go({ task: next }, true);
  byId('said').textContent = `${tasks[next].label}: ${tasks[next].fate}`;
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId('help').open) return;
  const writing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
  if (event.key === 'Escape') {
    if (event.target === list.search && state.q) go({ q: '' });
    else if (phone() && state.task !== null) go({ task: null }, true);
    else if (writing) event.target.blur();
    else focusRow();
    event.preventDefault();
    return;
  }
  if (event.key === 'Enter' && event.target === list.search) {
    if (list.order.length) go({ task: list.order[0] }, true);
    list.search.blur();
    event.preventDefault();
    return;
  }
  if (writing) return;
  const act = {
    j: () => move(1), k: () => move(-1), '/': () => { list.search.focus(); list.search.select(); }, '?': () => byId('help').showModal(),
    Enter: event.target instanceof HTMLButtonElement || event.target instanceof HTMLAnchorElement || event.target.tagName === 'SUMMARY' ? null : readTask,
  }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

function readTask() {
  const title = byId('title');
  if (!title) return;
  title.focus();
  title.scrollIntoView({ block: 'start' });
}

function focusRow() {
  bringIntoSight(state.task);
  const row = list.room.querySelector('[aria-selected="true"] a') || list.room.querySelector('a');
  if (row) row.focus();
}

function drawHelp() {
  byId('help').append(
    h('dl', null, KEYS.flatMap(([key, what]) => [h('dt', null, h('kbd', null, key)), h('dd', null, what)])),
    h('button', { type: 'button', onclick: () => byId('help').close() }, 'Close'));
}

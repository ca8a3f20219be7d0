// The top of the page: the decision, what was compared, and the figures.

const MOST_GROUPS_DRAWN = 8;

function section(title, ...children) {
  return children.some(Boolean) ? h('section', null, h('h2', null, title), children) : null;
}

function countsBar() {
  const counts = FATES.map((fate) => [fate, tasks.filter((task) => task.fate === fate).length]).filter(([, number]) => number);
  const bar = h('div', { class: 'counts', role: 'img', 'aria-label': counts.map(([fate, number]) => `${number} ${fate}`).join(', ') });
  for (const [fate, number] of counts) {
    const part = h('i', { class: `is-${fate}` });
    part.style.flex = String(number);
    bar.append(part);
  }
  const legend = h('ul', { class: 'legend' }, counts.map(([fate, number]) => h('li', null, h('i', { class: `is-${fate}` }), h('b', null, number.toLocaleString('en')), ` ${fate}`)));
  return [bar, legend];
}

function intervalRows() {
  const figures = data.figures;
  const rows = [];
  if (!figures || figures.delta === null) return rows;
  const add = (name, told, middle) => told && told.ci_low !== null && told.ci_high !== null && rows.push([name, told.ci_low, middle, told.ci_high, false]);
  add(figures.on_these_tasks ? 'tasks like these' : 'change', figures, figures.delta);
  if (figures.on_these_tasks) add('these tasks', figures.on_these_tasks, figures.on_these_tasks.delta);
  if (figures.clustered) add(`by ${figures.clustered.field}`, figures.clustered, figures.delta);
  const bounds = figures.unmeasured;
  if (bounds && bounds.tasks && bounds.delta_worst !== null) rows.push([`${bounds.tasks.toLocaleString('en')} not measured`, bounds.delta_worst, figures.delta, bounds.delta_best, true]);
  return rows;
}

function subsetRows(subsets) {
  return subsets.groups.filter((group) => group.ci_low !== null).slice(0, MOST_GROUPS_DRAWN).map((group) => [`${group.name === null ? 'others' : group.name || "''"} (${group.n})`, group.ci_low, group.delta, group.ci_high]);
}

function costRows() {
  return data.costs.filter(([, , , low]) => low !== null).map(([name, how, times, low, high]) => [name, low, times, high, false, how]);
}

function pairsOf(told) {
  return h('dl', { class: 'pairs' }, told.flatMap(([what, how]) => [h('dt', null, what), h('dd', null, how)]));
}

function drawFigures() {
  const place = byId('figures');
  place.replaceChildren();
  const [all, gap, least] = [place.clientWidth || 700, 40, 330];
  const columns = Math.max(1, Math.min(3, Math.floor((all + gap) / (least + gap))));
  const width = Math.floor((all - gap * (columns - 1)) / columns);
  const unit = data.figures && data.figures.pass_fail ? 'points' : 'reward';
  const text = (value) => plain(value, true);
  const rows = intervalRows();
  const margin = data.figures && data.figures.margin ? data.figures.margin.margin : 0;
  const costs = costRows();
  const rest = data.costs.filter(([, , , low]) => low === null);
  const parts = [
    section(counted(tasks.length, 'task'), countsBar(), tasks.some((task) => task.flip) ? changes(width) : null),
    rows.length ? section(`Change and its 95% interval, in ${unit}`, intervals(width, rows, { zero: 0, text, margin })) : null,
    section('New reward against old', against(width)),
    ...((data.figures && data.figures.subsets) || []).map((subsets) => {
      const groups = subsetRows(subsets);
      const more = subsets.groups.length - groups.length;
      const rest = groups.length ? `and ${counted(more, 'more group')}` : `${counted(more, 'group')}, none with an interval`;
      return section(`Change by ${subsets.field}`, groups.length ? intervals(width, groups, { zero: 0, text }) : null, more ? h('p', { class: 'rest' }, rest) : null);
    }),
    data.changes.length ? section('What else changed', pairsOf(data.changes)) : null,
    costs.length ? section('Cost, new in times of old (95%)', intervals(width, costs, { zero: 1, text: (value) => `${value.toFixed(2)}×`, log: true })) : null,
    rest.length ? section(costs.length ? 'Other costs' : 'Cost', pairsOf(rest)) : null,
  ];
  place.append(...parts.filter(Boolean));
}

function drawHead() {
  const { head } = data;
  const broken = data.gate.filter(([, , tripped]) => tripped);
  const rules = data.gate.length
    ? h('p', { class: 'gate' }, h('b', { class: broken.length ? 'lost' : '' }, broken.length ? 'Gate: broken' : 'Gate: passed'), ` ${data.gate.map(([rule, value, tripped]) => `${rule} ${tripped ? 'broken' : 'holds'} (${value})`).join(', ')}`)
    : null;
  const more = [...data.notes, ...data.left_out];
  byId('head').append(...[
    h('div', { class: 'runs' }, data.about.map(([what, how]) => h('span', null, h('b', null, what), how))),
    h('h1', null, h('span', { class: head.tone }, head.verdict.slice(0, 1).toUpperCase() + head.verdict.slice(1)), head.means ? `: ${head.means}` : ''),
    head.tasks ? h('p', { class: 'fate' }, head.tasks) : null,
    h('ul', { class: 'lines' }, head.lines.slice(0, 2).map((text) => h('li', null, text))),
    rules,
    h('p', { class: 'jump' }, h('button', { type: 'button', class: 'plain', onclick: () => byId('tasks').scrollIntoView() }, `To the ${counted(tasks.length, 'task')} ↓`)),
    h('div', { class: 'facts', id: 'figures' }),
    head.lines.length > 2 || more.length
      ? h('details', { class: 'more' }, h('summary', null, [head.lines.length > 2 && 'how sure this is', more.length && counted(more.length, 'note')].filter(Boolean).join(', ')), h('ul', null, [...head.lines.slice(2), ...more].map((text) => h('li', null, text))))
      : null,
  ].filter(Boolean));
}

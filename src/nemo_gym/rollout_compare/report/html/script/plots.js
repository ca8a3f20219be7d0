// Figures, drawn as wide as there is room. Each has its numbers in words for who cannot see it.

function line(x1, y1, x2, y2, settings) {
  return svg('line', { x1, y1, x2, y2, stroke: 'var(--line)', ...settings });
}

function label(x, y, text, settings) {
  return svg('text', { x, y, ...settings }, text);
}

function drawing(width, height, told, ...children) {
  return svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': told }, ...children);
}

// Rows of intervals on one axis with a line at nothing changed: [name, low, middle, high].
function intervals(width, rows, { zero, text, log, margin }) {
  const place = log ? Math.log : (value) => value;
  const ends = rows.flatMap(([, low, , high]) => [low, high]).concat(zero, margin ? [-margin, margin] : []).map(place);
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const span = most - least || 1;
  const left = Math.min(150, width * 0.36);
  const x = (value) => left + 8 + ((place(value) - least) / span) * (width - left - 20);
  const height = rows.length * 30 + 22;
  const parts = [];
  if (margin) parts.push(svg('rect', { x: x(-margin), y: 0, width: x(margin) - x(-margin), height: height - 18, fill: 'var(--hover)' }));
  parts.push(line(x(zero), 0, x(zero), height - 18, { stroke: 'var(--quiet)' }));
  parts.push(label(x(zero), height - 5, log ? 'same' : '0', { 'text-anchor': 'middle' }));
  rows.forEach(([name, low, middle, high, bounds, means], index) => {
    const y = index * 30 + 20;
    const color = high < zero ? 'var(--lost)' : low > zero ? 'var(--won)' : 'var(--ink)';
    const tint = log || bounds ? 'var(--ink)' : color;
    const dashes = bounds ? { 'stroke-dasharray': '3 3' } : {};
    const cut = name.length > 24 ? `${name.slice(0, 23)}…` : name;
    parts.push(
      svg('g', null,
        svg('title', null, `${name}: ${text(middle)} (${text(low)} to ${text(high)})`),
        label(0, means ? y - 1 : y + 4, cut, { class: 'value' }),
        means ? label(0, y + 12, means.split(',').length > 2 ? means.split(', ')[0] : means) : null,
        line(x(low), y, x(high), y, { stroke: tint, 'stroke-width': 2, ...dashes }),
        line(x(low), y - 4, x(low), y + 4, { stroke: tint, 'stroke-width': 1.5 }),
        line(x(high), y - 4, x(high), y + 4, { stroke: tint, 'stroke-width': 1.5 }),
        bounds ? null : svg('circle', { cx: x(middle), cy: y, r: 4, fill: tint }),
        bounds ? null : label(Math.max(left + 24, Math.min(width - 24, x(middle))), y - 8, text(middle), { 'text-anchor': 'middle', class: 'value number' })));
  });
  const told = rows.map(([name, low, middle, high]) => `${name}: ${text(middle)}, ${text(low)} to ${text(high)}`).join('; ');
  return drawing(width, height, told, ...parts);
}

// Every measured task's change, sorted: bars, or one shape where bars would be thinner than a pixel.
function changes(width) {
  const told = tasks.filter((task) => change(task) !== null).sort((a, b) => change(a) - change(b) || a.number - b.number);
  if (!told.length) return null;
  const most = Math.max(...told.map((task) => Math.abs(change(task)))) || 1;
  const [height, middle] = [86, 43];
  const each = width / told.length;
  const y = (value) => middle - (value / most) * 38;
  const parts = [line(0, middle, width, middle)];
  if (each >= 3) {
    const gap = each > 8 ? 2 : each > 4 ? 1 : 0.5;
    told.forEach((task, index) => {
      const value = change(task);
      const same = task.fate === 'identical';
      const top = same ? middle - 1.5 : Math.min(y(value), middle);
      parts.push(svg('rect', {
        class: 'mark', x: index * each, y: top, width: Math.min(each - gap, 34), height: same ? 3 : Math.max(2, Math.abs(y(value) - middle)), rx: each > 8 ? 2 : 0,
        fill: same ? 'var(--quiet)' : `var(--${task.fate === 'lost' ? 'lost' : 'won'})`, opacity: task.flip && task.flip.noise ? 0.4 : 1,
        onclick: () => go({ task: task.number }, true),
      }, svg('title', null, `${task.label}: ${plain(value, true)}${task.flip && task.flip.noise ? ', within noise' : ''}`)));
    });
  } else {
    for (const [keep, color] of [[(value) => value < 0, '--lost'], [(value) => value > 0, '--won']]) {
      const shape = [];
      told.forEach((task, index) => {
        if (keep(change(task)) && task.fate !== 'identical') shape.push(`M${(index * each).toFixed(2)} ${middle}V${y(change(task)).toFixed(2)}h${Math.max(each, 0.6).toFixed(2)}V${middle}z`);
      });
      parts.push(svg('path', { d: shape.join(''), fill: `var(${color})` }));
    }
  }
  const [lost, won] = ['lost', 'won'].map((fate) => told.filter((task) => task.fate === fate).length);
  if (lost) parts.push(label(0, height + 12, '▼ old better', { fill: 'var(--lost)' }));
  if (won) parts.push(label(width, height + 12, 'new better ▲', { 'text-anchor': 'end' }));
  const all = `Changes of ${counted(told.length, 'task')}, sorted: ${lost} lower, ${told.length - lost - won} the same, ${won} higher`;
  return drawing(width, height + 16, all, ...parts);
}

// Old against new, where there is more to see than solved or not: tasks of one place are one circle.
function against(width) {
  const places = new Map();
  for (const task of tasks) {
    if (change(task) === null) continue;
    const key = `${task.old.reward.toFixed(2)},${task.new.reward.toFixed(2)}`;
    if (!places.has(key)) places.set(key, []);
    places.get(key).push(task);
  }
  if (places.size < 8) return null;
  const all = [...places.values()].flat().flatMap((task) => [task.old.reward, task.new.reward]);
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const left = 46;
  const size = Math.min(width - left - 10, 128);
  const at = (value) => ((value - least) / (most - least || 1)) * size;
  const [x, y] = [(value) => left + at(value), (value) => 10 + size - at(value)];
  const largest = Math.max(...[...places.values()].map((group) => group.length));
  const parts = [svg('rect', { x: left, y: 10, width: size, height: size, fill: 'none', stroke: 'var(--line)' }), line(left, 10 + size, left + size, 10, { stroke: 'var(--quiet)' })];
  for (const group of [...places.values()].sort((a, b) => b.length - a.length)) {
    const [first] = group;
    const color = first.fate === 'lost' ? '--lost' : first.fate === 'won' ? '--won' : '--quiet';
    parts.push(svg('circle', { class: 'mark', cx: x(first.old.reward), cy: y(first.new.reward), r: 2.5 + 7 * Math.sqrt(group.length / largest) * (largest > 1), fill: `var(${color})`, 'fill-opacity': 0.75, onclick: () => go({ task: first.number }, true) },
      svg('title', null, `${reward(first.old)} to ${reward(first.new)}: ${group.length === 1 ? first.label : counted(group.length, 'task')}`)));
  }
  for (const value of [least, most]) {
    parts.push(label(x(value), size + 32, plain(value), { 'text-anchor': value === least ? 'start' : 'end' }), label(32, y(value) + (value === least ? 0 : 8), plain(value), { 'text-anchor': 'end' }));
  }
  parts.push(label(left + size / 2, size + 32, 'old', { 'text-anchor': 'middle' }), label(32, 12 + size / 2, 'new', { 'text-anchor': 'end' }));
  return drawing(size + left + 10, size + 36, `Old against new reward of ${counted(all.length / 2, 'task')}; above the line new is better`, ...parts);
}

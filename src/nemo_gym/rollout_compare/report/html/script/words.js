// Words for what became of a task. Each has a sign too, so that no meaning hangs on a colour.

const SIGNS = { lost: '▼', won: '▲', masked: '○', missing: '–', identical: '=' };

function counted(number, noun) {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}

function reward(told) {
  if (!told) return '–';
  return told.text.replace(/\.0$/, '');
}

// Digits as the report has them: where a half is exact the last one is even.
function rounded(value, digits) {
  const [scale, halves] = [10 ** digits, value * 2 ** (digits + 1)];
  if (!Number.isInteger(halves) || halves % 2 === 0) return value.toFixed(digits);
  const below = Math.floor(value * scale);
  return ((below + (below % 2)) / scale).toFixed(digits);
}

function withSign(value, text, signed) {
  return `${value < 0 ? '−' : signed && value > 0 ? '+' : ''}${text}`;
}

function percent(value, signed) {
  const points = Math.abs(100 * value);
  const text = points > 0 && points < 0.05 ? points.toPrecision(1) : rounded(points, 1).replace(/\.0$/, '');
  return withSign(value, text, signed);
}

function plain(value, signed) {
  if (data.figures && data.figures.pass_fail) return percent(value, signed);
  const size = Math.abs(value);
  const text = size >= 100 ? size.toPrecision(3) : rounded(size, 3).replace(/\.?0+$/, '');
  return withSign(Number(text) && value, text, signed);
}

function sentence(task) {
  const states = {
    lost: 'Lost.', won: 'Won.', masked: 'Masked: it does not count.', identical: 'The same result.',
    missing: task.old ? 'Missing: only the old run has it.' : 'Missing: only the new run has it.',
  };
  return states[task.fate];
}

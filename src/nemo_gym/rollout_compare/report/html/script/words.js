// Words for what became of a task. Each has a sign too, so that no meaning hangs on a colour.

const SIGNS = { lost: '▼', won: '▲', masked: '○', missing: '–', identical: '=' };

function counted(number, noun) {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}

function reward(told) {
  if (!told) return '–';
  return told.text.replace(/\.0$/, '');
}

function percent(value, signed) {
  const points = Math.round(1000 * value) / 10;
  return `${signed && value > 0 ? '+' : ''}${String(points).replace('-', '−')}`;
}

function plain(value, signed) {
  if (data.figures && data.figures.pass_fail) return percent(value, signed);
  const text = Math.abs(value) >= 100 ? value.toPrecision(3) : String(Math.round(1000 * value) / 1000);
  return `${signed && value > 0 ? '+' : ''}${text.replace('-', '−')}`;
}

function sentence(task) {
  const states = {
    lost: 'Lost.', won: 'Won.', masked: 'Masked: it does not count.', identical: 'The same result.',
    missing: task.old ? 'Missing: only the old run has it.' : 'Missing: only the new run has it.',
  };
  return states[task.fate];
}

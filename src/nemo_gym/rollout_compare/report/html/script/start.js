// Draw the page, then keep it in step with its address.

let drawn = { list: null, task: undefined };

function show() {
  document.body.classList.toggle('open', state.task !== null);
  showTools();
  const wanted = JSON.stringify([state.q, state.show, state.only, state.group, state.sort]);
  if (drawn.list !== wanted) {
    if (drawn.list !== null) list.scroll.scrollTop = 0;
    drawn.list = wanted;
    refill();
  }
  markSelected();
  if (drawn.task !== state.task) {
    drawn.task = state.task;
    drawTask();
    if (state.task !== null) bringIntoSight(state.task);
    if (phone()) scrollTo(0, 0);
    else if (byId('task').getBoundingClientRect().top < 0) byId('tasks').scrollIntoView();
  }
}

function start() {
  byId('page').hidden = false;
  drawHead();
  drawTools();
  drawHelp();
  readState();
  drawFigures();
  if (state.task === null && !phone()) {
    refill();
    const first = list.order[0];
    if (first !== undefined) state.task = first;
  }
  show();
  byId('skip').addEventListener('click', (event) => {
    event.preventDefault();
    byId('tasks').focus();
  });
  addEventListener('keydown', pressed);
  for (const event of ['hashchange', 'popstate']) {
    addEventListener(event, () => {
      readState();
      show();
    });
  }
  let width = innerWidth;
  addEventListener('resize', () => {
    if (innerWidth !== width) {
      width = innerWidth;
      drawFigures();
      refill();
      markSelected();
    } else drawRows();
  });
}

start();

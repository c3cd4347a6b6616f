// The page of ActOp. Texts of the cluster are set as text, never as HTML.
'use strict';
(() => {
  const root = document.body.dataset.root;
  const period = 2000;
  const byId = id => document.getElementById(id);
  let page = null, paused = false, chosen = null;
  const orders = {};

  // ---- texts
  const none = '\u2013';
  const number = value => value == null ? none : value >= 100 || Number.isInteger(value)
    ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
  const percent = value => value == null ? none : (100 * value).toFixed(value > 0 && value < 0.1 ? 1 : 0) + ' %';
  const time = seconds => seconds == null ? none : seconds === 0 ? '0' : seconds < 1e-3 ? (seconds * 1e6).toPrecision(3) + ' \u00b5s'
    : seconds < 1 ? (seconds * 1e3).toPrecision(3) + ' ms' : seconds.toPrecision(3) + ' s';
  const bytes = value => value >= 1 << 30 ? (value / (1 << 30)).toFixed(1) + ' GiB' : Math.round(value / (1 << 20)) + ' MiB';

  // ---- tables: head, how a line is shown, by what it is sorted, and when a value is bad
  const columns = {
    silo: [
      { head: 'Silo', text: s => s.name || s.silo, isText: true, title: s => s.silo },
      { head: 'CPU', text: s => s.silent ? none : Math.round(s.cpuPercent) + ' %', by: s => s.cpuPercent, isBad: s => s.cpuPercent > 90 },
      { head: 'Memory', text: s => s.silent ? none : bytes(s.memoryBytes), by: s => s.memoryBytes, isBad: s => s.memoryLimitBytes > 0 && s.memoryBytes > 0.95 * s.memoryLimitBytes },
      { head: 'Activations', text: s => s.silent ? none : number(s.activations), by: s => s.activations },
      { head: 'Messages/s', text: s => number(s.messageRate), by: s => s.messageRate },
      { head: 'Remote share', text: s => percent(s.remoteShare), by: s => s.remoteShare },
      { head: 'Moves/s', text: s => number(s.moveRate), by: s => s.moveRate },
      { head: 'Wait of a turn', text: s => time(workOf(s)?.w), by: s => workOf(s)?.w, isBad: s => workOf(s)?.w > 0.05 },
      { head: 'Clients', text: s => s.silent ? none : number(s.clients), by: s => s.clients },
      { head: 'State', text: s => s.silent ? 'no answer: ' + s.silent : s.isOverloaded ? 'overloaded' : 'answers', isText: true, isBad: s => s.silent || s.isOverloaded },
    ],
    stage: [
      { head: 'Stage', text: s => s.name, isText: true },
      { head: 'Threads', text: s => number(s.threads) },
      { head: 'Changes', text: s => number(s.changes) },
      { head: 'Events/s (\u03bb)', text: s => number(s.lambda) },
      { head: 'w', text: s => time(s.w), isBad: s => s.w > 0.05 },
      { head: 'x', text: s => time(s.x) },
      { head: 'r', text: s => time(s.r), isBad: s => s.r > 0.01 },
      { head: 'Blocked', text: s => percent(s.blocked), isBad: s => s.blocked > 0.5 },
    ],
    class: [
      { head: 'Class', text: c => c.name, by: c => c.name, isText: true },
      { head: 'Activations', text: c => number(c.activations), by: c => c.activations },
      { head: 'Calls/s', text: c => number(c.callRate), by: c => c.callRate },
      { head: 'Failed', text: c => percent(c.failedShare), by: c => c.failedShare, isBad: c => c.failedShare > 0.01 },
      { head: 'Median', text: c => time(c.median), by: c => c.median },
      { head: 'p99', text: c => time(c.p99), by: c => c.p99, isBad: c => c.p99 > 1 },
    ],
    edge: [
      { head: 'Between', text: e => e.one + ' and ' + e.other, isText: true },
      { head: 'Messages/s', text: e => number(e.rate), by: e => e.rate },
      { head: 'Remote share', text: e => percent(e.remoteShare), by: e => e.remoteShare },
    ],
    member: [
      { head: 'Name', text: m => m.name, isText: true },
      { head: 'Address', text: m => m.silo, isText: true },
      { head: 'Status', text: m => m.status, isText: true, isBad: m => m.status === 'Dead' },
    ],
  };
  const workOf = silo => silo.stages.find(stage => stage.name === 'work');

  function element(name, text, attributes = {}) {
    const made = document.createElement(name);
    if (text != null) made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) if (value != null && value !== false) made.setAttribute(key, value);
    return made;
  }

  function head(kind) {
    const row = element('tr');
    columns[kind].forEach((column, index) => {
      const cell = element('th', column.by ? null : column.head, { scope: 'col', class: column.isText && 'text' });
      if (column.by) {
        const button = element('button', column.head, { type: 'button' });
        button.addEventListener('click', () => {
          const order = orders[kind];
          orders[kind] = { index, isUp: order && order.index === index ? !order.isUp : false };
          show();
        });
        cell.append(button);
      }
      row.append(cell);
    });
    byId(kind + '-table').tHead.replaceChildren(row);
  }

  // Rows are kept, and their texts changed, so that the focus and a selection stay.
  function fill(kind, lines, empty, keyOf, onChoose) {
    const table = byId(kind + '-table');
    if (!table.tHead.rows.length) head(kind);
    const order = orders[kind];
    [...table.tHead.rows[0].cells].forEach((cell, index) => order && order.index === index
      ? cell.setAttribute('aria-sort', order.isUp ? 'ascending' : 'descending') : cell.removeAttribute('aria-sort'));
    const sorted = [...lines];
    if (order) {
      const by = columns[kind][order.index].by;
      const compare = (a, b) => typeof a === 'string' ? a.localeCompare(b) : (a ?? -1) - (b ?? -1);
      sorted.sort((a, b) => (order.isUp ? 1 : -1) * compare(by(a), by(b)));
    }
    const body = table.tBodies[0];
    if (!sorted.length) {
      const row = element('tr');
      row.append(element('td', empty, { class: 'empty', colspan: columns[kind].length }));
      body.replaceChildren(row);
      return;
    }
    const known = new Map([...body.rows].map(row => [row.dataset.key, row]));
    const rows = sorted.map(line => {
      const key = keyOf(line);
      const row = known.get(key) || newRow(kind, key, onChoose);
      columns[kind].forEach((column, index) => {
        const cell = row.cells[index], target = cell.firstElementChild || cell, text = column.text(line);
        if (target.textContent !== text) target.textContent = text;
        cell.classList.toggle('bad', !!(column.isBad && column.isBad(line)));
        if (column.title) cell.title = column.title(line);
      });
      if (onChoose) {
        row.classList.toggle('chosen', key === chosen);
        row.cells[0].firstElementChild.setAttribute('aria-pressed', key === chosen);
      }
      return row;
    });
    if (rows.length !== body.rows.length || rows.some((row, index) => body.rows[index] !== row)) {
      const focused = document.activeElement;
      body.replaceChildren(...rows);
      if (body.contains(focused)) focused.focus();
    }
  }

  function newRow(kind, key, onChoose) {
    const row = element('tr', null, { 'data-key': key });
    columns[kind].forEach((column, index) => {
      const cell = element(index ? 'td' : 'th', null, { scope: index ? null : 'row', class: column.isText && 'text' });
      if (!index && onChoose) {
        const button = element('button', null, { type: 'button' });
        button.addEventListener('click', () => onChoose(key));
        cell.append(button);
      }
      row.append(cell);
    });
    return row;
  }

  // ---- the picture: classes on a circle, the busiest first
  function draw() {
    const picture = byId('picture');
    const edges = page.edges.slice(0, 60);
    picture.toggleAttribute('hidden', !edges.length);
    if (!edges.length) return;
    const weights = new Map();
    for (const edge of edges) for (const name of new Set([edge.one, edge.other])) weights.set(name, (weights.get(name) || 0) + edge.rate);
    const names = [...weights.keys()].sort((a, b) => weights.get(b) - weights.get(a));
    const at = new Map(names.map((name, index) => {
      const angle = 2 * Math.PI * index / names.length - Math.PI / 2;
      return [name, { x: 400 + (names.length > 1 ? 280 * Math.cos(angle) : 0), y: 240 + (names.length > 1 ? 165 * Math.sin(angle) : 0) }];
    }));
    const most = edges[0].rate;
    const svg = (name, attributes, text) => {
      const made = document.createElementNS('http://www.w3.org/2000/svg', name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      if (text != null) made.textContent = text;
      return made;
    };
    const shapes = edges.map(edge => {
      const a = at.get(edge.one), b = at.get(edge.other);
      const line = svg('path', {
        d: edge.one === edge.other ? `M${a.x - 8} ${a.y - 12} C${a.x - 60} ${a.y - 80} ${a.x + 60} ${a.y - 80} ${a.x + 8} ${a.y - 12}`
          : `M${a.x} ${a.y} Q${(a.x + b.x + 800) / 4} ${(a.y + b.y + 480) / 4} ${b.x} ${b.y}`,
        'stroke-width': 1 + 9 * Math.sqrt(edge.rate / most),
        'stroke-dasharray': edge.remoteShare > 0.5 ? '14 8' : 'none',
        opacity: 0.75,
      });
      line.append(svg('title', {}, `${edge.one} and ${edge.other}: ${number(edge.rate)} messages/s, ${percent(edge.remoteShare)} remote`));
      return line;
    });
    for (const name of names) {
      const { x, y } = at.get(name);
      shapes.push(svg('circle', { cx: x, cy: y, r: 14 }), svg('text', { x, y: y > 240 ? y + 38 : y - 24 }, name));
    }
    picture.replaceChildren(...shapes);
  }

  // ---- the page
  const pages = ['silos', 'classes', 'graph', 'members'];
  const current = () => pages.includes(location.hash.slice(1)) ? location.hash.slice(1) : 'silos';

  function choose(key) {
    chosen = key;
    show();
  }

  function show() {
    const shown = current();
    for (const name of pages) byId(name).hidden = name !== shown;
    for (const link of document.querySelectorAll('nav a'))
      link.hash === '#' + shown ? link.setAttribute('aria-current', 'page') : link.removeAttribute('aria-current');
    if (!page) return;
    const calls = page.classes.reduce((sum, one) => sum + (one.callRate || 0), 0);
    byId('summary').textContent = `View ${page.view}, ${page.silos.length} ${page.silos.length === 1 ? 'silo' : 'silos'}, `
      + `${number(Math.round(calls))} calls/s${paused ? ', paused' : ''}`;
    if (!page.silos.some(silo => silo.silo === chosen)) {
      // The one whose turns wait the longest is what most people look for.
      const slowest = [...page.silos].sort((a, b) => (workOf(b)?.w || 0) - (workOf(a)?.w || 0))[0];
      chosen = slowest && slowest.silo;
    }
    if (shown === 'silos') {
      fill('silo', page.silos, 'No silo answers.', silo => silo.silo, choose);
      const silo = page.silos.find(one => one.silo === chosen);
      byId('stages-title').textContent = 'Stages of ' + (silo ? silo.name || silo.silo : none);
      fill('stage', silo ? silo.stages : [], 'The silo has not answered.', stage => stage.name);
    } else if (shown === 'classes') {
      fill('class', page.classes, 'No grain is active.', one => one.name);
    } else if (shown === 'graph') {
      draw();
      fill('edge', page.edges, 'No edges. Locality counts them: set LocalityOptions.Enabled, and wait for some seconds.', edge => edge.one + '\n' + edge.other);
    } else {
      fill('member', page.members, 'No members.', member => member.silo);
    }
  }

  async function refresh() {
    if (!paused && !document.hidden) {
      try {
        const answer = await fetch(root + '/api/cluster', { cache: 'no-store', signal: AbortSignal.timeout(10000) });
        if (!answer.ok) throw new Error(answer.status + ' ' + await answer.text());
        page = await answer.json();
        byId('problem').hidden = true;
      } catch (error) {
        byId('problem').textContent = 'The silo of this page does not answer: ' + error.message + '. What is below is of before.';
        byId('problem').hidden = false;
      }
      show();
    }
    setTimeout(refresh, period);
  }

  byId('pause').addEventListener('click', () => {
    paused = !paused;
    byId('pause').setAttribute('aria-pressed', paused);
    byId('pause').textContent = paused ? 'Go on' : 'Pause';
    show();
  });
  addEventListener('hashchange', () => {
    show();
    byId('content').focus({ preventScroll: true });
    scrollTo(0, 0);
  });
  show();
  refresh();
})();

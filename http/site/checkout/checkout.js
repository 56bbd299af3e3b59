// Updates the checkout page while the payer pays: live status, countdown, copy buttons. All texts come with the page.

const TICK_MS = 1_000;
const POLL_TIMEOUT_MS = 5_000;
const REOPEN_MS = 5_000; // wait before reopening a stream that the browser gave up
const QUIET_MS = 15_000; // a stream silent for longer may be dead, so poll
const COPIED_MS = 4_000;
const URGENT_MS = 60_000;

const page = document.querySelector('[data-live]');
const panel = page.querySelector('[data-panel]');
const pay = page.querySelector('[data-pay]'); // null if not payable
const clocks = page.querySelectorAll('[data-clock]');
const offline = page.querySelector('[data-offline]');
const base = page.dataset.base;
// The state of a pending charge without payment instructions.
const unpayable = page.dataset.state === 'verifying' ? 'verifying' : 'preparing';

let status = page.dataset.live;
let expiresAt = Date.parse(page.dataset.expiresAt); // NaN without a due time
let serverAhead = Date.parse(page.dataset.now) - Date.now(); // the account's clock applies, not the device's
let ended = false;
let stream = null;
let openedAt = 0;
let heardAt = performance.now();
let messages = 0;
let asking = false;
let askAgainAt = 0;

function remainingText(milliseconds) {
  const seconds = Math.ceil(milliseconds / 1000);
  const two = (value) => String(value % 60).padStart(2, '0');
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor(seconds / 3_600) % 24;
  const rest = `${two(Math.floor(seconds / 60))}:${two(seconds)}`;
  if (days > 0) return `${days}d ${two(hours)}:${rest}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
}

const civilDay = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/Sao_Paulo' });

function daysText(due, now) {
  const days = Math.round((Date.parse(civilDay.format(due)) - Date.parse(civilDay.format(now))) / 86_400_000);
  if (days > 1) return `Vence em ${days} dias`;
  return days === 1 ? 'Vence amanhã' : 'Vence hoje';
}

function enter(state) {
  const hadFocus = pay?.contains(document.activeElement);
  panel.replaceChildren(page.querySelector(`[data-for="${state}"]`).content.cloneNode(true));
  page.dataset.state = state;
  document.title = `${panel.querySelector('h2').textContent} · ${page.querySelector('.amount').textContent}`;
  if (pay) pay.hidden = state !== 'pending';
  if (hadFocus && pay.hidden) panel.focus();
}

// The same rule as pageState in states.ts.
function show() {
  const now = Date.now() + serverAhead;
  const remaining = expiresAt - now;
  let state = status;
  if (status === 'pending' && remaining <= 0) state = 'verifying';
  else if (status === 'pending' && !pay) state = unpayable;
  if (state !== page.dataset.state) enter(state);
  for (const clock of clocks) {
    const due = Date.parse(clock.dataset.clock) || expiresAt;
    const left = due - now;
    if (left > 0) clock.textContent = 'days' in clock.dataset ? daysText(due, now) : remainingText(left);
    clock.closest('[data-method]')?.toggleAttribute('data-over', left <= 0); // this method has expired
  }
  page.toggleAttribute('data-urgent', remaining < URGENT_MS);
}

function accept(message) {
  if (ended || !page.querySelector(`[data-for="${CSS.escape(message.status)}"]`)) return;
  heardAt = performance.now();
  offline.hidden = true;
  status = message.status;
  expiresAt = Date.parse(message.expires_at);
  if (status === 'pending' && page.dataset.state === 'preparing' && expiresAt) return location.reload();
  serverAhead = Date.parse(message.now) - Date.now();
  show();
  if (status !== 'pending' && status !== 'processing') end();
}

function end() {
  ended = true;
  clearInterval(ticking);
  stream.close();
  pay?.remove();
}

function listen() {
  stream?.close();
  openedAt = performance.now();
  stream = new EventSource(`${base}/events`);
  stream.addEventListener('status', (event) => {
    messages += 1;
    accept(JSON.parse(event.data));
  });
}

async function ask() {
  if (asking || performance.now() < askAgainAt) return;
  asking = true;
  const messagesBefore = messages;
  const abort = new AbortController();
  const timeout = setTimeout(() => abort.abort(), POLL_TIMEOUT_MS);
  try {
    const response = await fetch(`${base}/status`, { cache: 'no-store', signal: abort.signal });
    if (response.status === 429) {
      askAgainAt = performance.now() + response.headers.get('Retry-After') * 1_000;
      return;
    }
    if (!response.ok) throw new Error(`status ${response.status}`);
    const message = await response.json();
    if (messages === messagesBefore) accept(message); // otherwise the stream was faster
  } catch {
    offline.hidden = ended;
  } finally {
    clearTimeout(timeout);
    asking = false;
  }
}

function tick() {
  show();
  const now = performance.now();
  if (stream.readyState !== EventSource.OPEN || now - heardAt > QUIET_MS) ask();
  if (stream.readyState === EventSource.CLOSED && now - openedAt > REOPEN_MS) listen();
}

// Runs when the payer returns from the bank's app. A sleeping phone may have dropped the stream silently.
function wake() {
  if (ended || document.visibilityState === 'hidden') return;
  listen();
  ask();
}

function copied(note, button, succeeded) {
  note.textContent = succeeded ? note.dataset.done : note.dataset.failed;
  note.toggleAttribute('data-wrong', !succeeded);
  button.toggleAttribute('data-copied', succeeded);
  setTimeout(() => {
    note.textContent = '';
    button.removeAttribute('data-copied');
  }, COPIED_MS);
}

async function copy(code, note, button) {
  try {
    await navigator.clipboard.writeText(code.dataset.code || code.textContent);
    copied(note, button, true);
  } catch {
    // The clipboard needs https and permission. Otherwise select the code, so that the payer can copy it.
    getSelection().selectAllChildren(code);
    copied(note, button, document.execCommand('copy'));
  }
}

for (const button of page.querySelectorAll('[data-copy]')) {
  const find = (part) => button.closest('[data-copying]').querySelector(part);
  button.addEventListener('click', () => copy(find('[data-code]'), find('[data-note]'), button));
}
document.addEventListener('visibilitychange', wake);
window.addEventListener('pageshow', (event) => event.persisted && wake());
window.addEventListener('online', wake);
const ticking = setInterval(tick, TICK_MS);
listen();
enter(page.dataset.state); // replaces the texts with those of a watched page
show();

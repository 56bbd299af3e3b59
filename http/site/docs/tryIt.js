// "Try it out": opens the form of an operation, fills in a new idempotency key, and sends the request to this server.

/** The maximum length of a shown response, because an event stream may never end. */
const CHARACTERS_SHOWN = 200_000;

/** Credentials by header. A key typed once is filled into every form until the page is closed. */
const credentials = new Map();
const sending = new WeakMap();

/** Returns a new idempotency key. crypto.randomUUID is unavailable unless the page has https or a loopback address. */
const freshKey = () =>
  `try-${Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;

const refresh = (form) => {
  const key = freshKey();
  for (const field of form.querySelectorAll('[data-fresh]'))
    field.value =
      field.dataset.in === 'body' ? field.value.replace(/("idempotencyKey"\s*:\s*)"[^"]*"/, `$1"${key}"`) : key;
};

const open = (button) => {
  const form = document.getElementById(button.getAttribute('aria-controls'));
  form.hidden = !form.hidden;
  button.setAttribute('aria-expanded', String(!form.hidden));
  if (form.hidden) return;
  refresh(form);
  for (const field of form.querySelectorAll('[data-in=credential]')) field.value ||= credentials.get(field.name) ?? '';
};

const requestOf = (form) => {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = {};
  let body;
  for (const field of form.querySelectorAll('[data-in]')) {
    const { name, value } = field;
    const place = field.dataset.in;
    if (place === 'file') {
      [body] = field.files;
      headers['Content-Type'] = body.type;
    } else if (value === '') continue;
    else if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (place === 'query') query.set(name, value);
    else if (place === 'body') {
      body = value;
      headers['Content-Type'] = 'application/json';
    } else headers[name] = (field.dataset.prefix ?? '') + value;
  }
  const search = query.size > 0 ? `?${query}` : '';
  return [location.origin + path + search, { method: form.dataset.method, headers, body }];
};

const readable = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};

const send = async (form) => {
  sending.get(form)?.abort();
  const cut = new AbortController();
  sending.set(form, cut);
  const status = form.querySelector('[role=status]');
  const shown = form.querySelector('pre');
  const code = shown.querySelector('code');
  status.textContent = 'Sending…';
  shown.hidden = true;
  code.textContent = '';
  const began = performance.now();
  try {
    const [url, request] = requestOf(form);
    const response = await fetch(url, { ...request, signal: cut.signal });
    const ms = Math.round(performance.now() - began);
    const replayed = response.headers.has('Idempotent-Replayed') ? ' · replayed' : '';
    status.textContent = `${response.status} ${response.statusText} · ${ms} ms · ${response.headers.get('X-Request-Id') ?? ''}${replayed}`;
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = '', part = await reader?.read(); part && !part.done; part = await reader.read()) {
      text += part.value;
      shown.hidden = false;
      code.textContent = readable(text.slice(0, CHARACTERS_SHOWN));
      if (text.length > CHARACTERS_SHOWN) cut.abort();
    }
  } catch (error) {
    if (!cut.signal.aborted) status.textContent = `The request failed: ${error.message}`;
  }
};

document.addEventListener('click', ({ target }) => {
  const button = target.closest?.('[data-try], [data-new-key]');
  if (button?.matches('[data-try]')) open(button);
  else if (button) refresh(button.form);
});
document.addEventListener('input', ({ target }) => {
  if (target.matches('[data-in=credential]')) credentials.set(target.name, target.value);
});
document.addEventListener('submit', (event) => {
  if (!event.target.matches('form[data-method]')) return;
  event.preventDefault();
  send(event.target);
});

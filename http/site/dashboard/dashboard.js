// Optional enhancements. Every page and form works without scripts.

// Copy buttons, and protection against submitting a form twice by a second click.
function enhance(root) {
  for (const button of root.querySelectorAll('[data-copy]')) {
    button.hidden = false;
    const words = button.textContent;
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = button.dataset.copied;
      setTimeout(() => {
        button.textContent = words;
      }, 2_000);
    });
  }
  // A download leaves the page open, and its form may be sent again.
  for (const form of root.querySelectorAll('form[method="post"]:not([data-download])'))
    form.addEventListener('submit', (event) => {
      if (form.dataset.sent) event.preventDefault();
      form.dataset.sent = 'true';
    });
}
enhance(document);
// A page restored from the back/forward cache may submit its forms again.
window.addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-sent]')) delete form.dataset.sent;
});

// Live parts. When the stream reports that the page is out of date, the page fetches itself and replaces its live parts.
const REOPEN_MS = 30_000;
const PAUSE_MS = 2_000;
const liveNow = () => document.querySelector('[data-live]');

/** Returns whether the user is editing the part. Its input must not be lost. */
function isInUse(part) {
  const fields = [...part.querySelectorAll('input:not([type="hidden"]), textarea')];
  return part.contains(document.activeElement) || fields.some((field) => field.value !== field.defaultValue);
}

async function renew() {
  const url = new URL(location.href);
  url.searchParams.delete('done');
  const response = await fetch(url, { cache: 'no-store' });
  if (response.redirected) return location.reload(); // signed out
  if (!response.ok) throw new Error(`status ${response.status}`);
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
  for (const part of document.querySelectorAll('[data-part]')) {
    const next = fresh.querySelector(`[data-part="${CSS.escape(part.dataset.part)}"]`);
    if (next === null || isInUse(part)) continue;
    part.replaceWith(next);
    enhance(next);
  }
}

function follow() {
  const { live, version } = liveNow().dataset;
  const stream = new EventSource(`${live}?shown=${encodeURIComponent(version)}`);
  const again = (pause) => {
    stream.close();
    setTimeout(follow, pause);
  };
  stream.addEventListener('page', async ({ data }) => {
    if (JSON.parse(data).version === version) return;
    stream.close();
    await untilSeen();
    renew().then(
      () => again(PAUSE_MS),
      () => again(REOPEN_MS),
    );
  });
  // Too many pages are open, or the session has ended. The browser itself reopens a lost connection.
  stream.addEventListener('error', () => stream.readyState === EventSource.CLOSED && again(REOPEN_MS));
}

/** Resolves once the page is visible. A hidden page needs no updates. */
function untilSeen() {
  if (!document.hidden) return null;
  return new Promise((resolve) => {
    document.addEventListener('visibilitychange', () => resolve(), { once: true });
  });
}
if (liveNow()) follow();

// Files: can be dropped on the form's field, and are sent with a progress bar. The response is the page that the plain form would show.
const sendsFiles = (form) => {
  const [drop, input, bar, cut] = ['.drop', 'input[type=file]', 'progress', '[data-cut]'].map((one) =>
    form.querySelector(one),
  );
  const over = (isOver) => (event) => {
    event.preventDefault();
    drop.classList.toggle('over', isOver);
  };
  drop.addEventListener('dragover', over(true));
  drop.addEventListener('dragleave', over(false));
  drop.addEventListener('drop', (event) => {
    over(false)(event);
    if (event.dataTransfer.files.length > 0) input.files = event.dataTransfer.files;
  });
  form.addEventListener('submit', (event) => {
    if (event.defaultPrevented) return;
    event.preventDefault();
    const request = new XMLHttpRequest();
    const fail = () => {
      cut.textContent = cut.dataset.cut;
      cut.hidden = false;
      bar.hidden = true;
      delete form.dataset.sent;
    };
    request.open('POST', form.action);
    request.setRequestHeader('accept', 'text/html');
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      bar.value = loaded / total;
    });
    request.addEventListener('error', fail);
    request.addEventListener('load', () => {
      if (request.responseURL !== form.action) return location.assign(request.responseURL);
      const main = new DOMParser().parseFromString(request.responseText, 'text/html').querySelector('main');
      if (main === null) return fail();
      document.querySelector('main').replaceWith(main);
      for (const again of main.querySelectorAll('form[data-upload]')) sendsFiles(again);
      main.querySelector('[role=alert]:not([hidden])')?.scrollIntoView();
    });
    cut.hidden = true;
    bar.hidden = false;
    request.send(new FormData(form));
  });
};
for (const form of document.querySelectorAll('form[data-upload]')) sendsFiles(form);

// Small comforts. Every page and every form works without them.

// Copying, and forms that are not sent again by a second click.
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
  for (const form of root.querySelectorAll('form[method="post"]'))
    form.addEventListener('submit', (event) => {
      if (form.dataset.sent) event.preventDefault();
      form.dataset.sent = 'true';
    });
}
enhance(document);
// A page that comes back from the browser's memory may send its forms again.
window.addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-sent]')) delete form.dataset.sent;
});

// Live parts. The stream tells that the page is old; the page then asks for itself, and takes over its live parts.
const REOPEN_MS = 30_000;
const PAUSE_MS = 2_000;
const liveNow = () => document.querySelector('[data-live]');

/** Whether someone is at work in the part: what they typed must not be lost. */
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
  // Too many pages are open, or the session is over. A lost connection is opened again by the browser.
  stream.addEventListener('error', () => stream.readyState === EventSource.CLOSED && again(REOPEN_MS));
}

/** Resolves while the page is visible: nobody needs the news of a hidden one. */
function untilSeen() {
  if (!document.hidden) return null;
  return new Promise((resolve) => {
    document.addEventListener('visibilitychange', () => resolve(), { once: true });
  });
}
if (liveNow()) follow();

// Files: dropped on the form's field, and sent with progress. What comes back is the page that the plain form would have shown.
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

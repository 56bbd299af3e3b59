// Small comforts. Every page and every form works without them.

// Copying.
for (const button of document.querySelectorAll('[data-copy]')) {
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

// A form that was sent is not sent again by a second click.
for (const form of document.querySelectorAll('form[method="post"]'))
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = 'true';
  });
// A page that comes back from the browser's memory may send its forms again.
window.addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-sent]')) delete form.dataset.sent;
});

// A payment that is not final shows its next status as soon as it has one. Nothing that someone is typing is lost.
const live = document.querySelector('[data-live]');
if (live?.dataset.live) {
  const events = new EventSource(live.dataset.live);
  events.addEventListener('status', ({ data }) => {
    if (JSON.parse(data).status === live.dataset.status) return;
    events.close();
    const url = new URL(location.href);
    url.searchParams.delete('done');
    location.replace(url);
  });
}

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

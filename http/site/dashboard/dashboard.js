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

// Loads an operation from its page when the reader opens it, follows links to operations, and filters the list.
const load = async (entry) => {
  const place = entry.querySelector('[data-page]');
  if (place === null) return;
  const { page } = place.dataset;
  // Prevents a second fetch while the first one is under way.
  delete place.dataset.page;
  try {
    const response = await fetch(page);
    if (!response.ok) throw new Error(String(response.status));
    const loaded = new DOMParser().parseFromString(await response.text(), 'text/html');
    place.replaceChildren(loaded.querySelector('[data-operation]'));
  } catch {
    // The link to the page remains, and opening the entry again retries.
    place.dataset.page = page;
  }
};

for (const entry of document.querySelectorAll('.entry'))
  entry.addEventListener('toggle', () => {
    if (!entry.open) return;
    history.replaceState(null, '', `#${entry.id}`);
    load(entry);
  });

/** Opens the operation in the address: `#createCharge`, or `#/Charges/createCharge` as in Swagger UI. */
const follow = async () => {
  const entry = document.getElementById(decodeURIComponent(location.hash).split(/[#/]/).at(-1));
  if (!entry?.matches('.entry')) return;
  entry.open = true;
  await load(entry);
  entry.scrollIntoView();
};
addEventListener('hashchange', follow);
follow();

const find = document.querySelector('.find');
if (find !== null) {
  const status = find.querySelector('[role=status]');
  find.hidden = false;
  find.addEventListener('input', ({ target }) => {
    const words = target.value.toLowerCase().split(/\s+/);
    let count = 0;
    for (const group of document.querySelectorAll('.group')) {
      for (const entry of group.querySelectorAll('.entry')) {
        const text = `${entry.id} ${entry.querySelector('summary').textContent}`.toLowerCase();
        entry.hidden = !words.every((word) => text.includes(word));
        if (!entry.hidden) count++;
      }
      group.hidden = group.querySelector('.entry:not([hidden])') === null;
    }
    status.textContent = target.value === '' ? '' : count === 1 ? '1 operation' : `${count} operations`;
  });
}

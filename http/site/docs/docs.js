// Copies a block of code. Without scripts, the style sheet hides the buttons.
document.documentElement.classList.add('scripted');
document.addEventListener('click', async ({ target }) => {
  const button = target.closest?.('[data-copy]');
  if (!button) return;
  const label = button.querySelector('span');
  const idle = label.textContent;
  if (idle === button.dataset.copied) return;
  await navigator.clipboard.writeText(button.closest('figure').querySelector('code').textContent);
  label.textContent = button.dataset.copied;
  setTimeout(() => {
    label.textContent = idle;
  }, 2000);
});

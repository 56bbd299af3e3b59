// Copies a block of code. Without this script the buttons stay hidden.
for (const button of document.querySelectorAll('[data-copy]')) {
  const label = button.querySelector('span');
  const idle = label.textContent;
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.closest('figure').querySelector('code').textContent);
    label.textContent = button.dataset.copied;
    setTimeout(() => {
      label.textContent = idle;
    }, 2000);
  });
}

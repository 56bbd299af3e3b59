// Sends the new password with the link's secret. The secret follows the #, so that no server log or Referer contains it.
const form = document.querySelector('form');
const [state, password, repeated] = [form.querySelector('output'), form.elements.password, form.elements.repeated];
const words = form.dataset;
const token = location.hash.slice(1);
// Keeps the secret out of the browser's history.
history.replaceState(null, '', location.pathname);

const tell = (text, look) => {
  state.textContent = text;
  state.className = `notice ${look}`;
  state.hidden = false;
};

if (token === '') tell(words.token, 'bad');

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  if (password.value !== repeated.value) return tell(words.mismatch, 'bad');
  form.elements.send.disabled = true;
  tell(words.wait, '');
  try {
    const answer = await fetch(location.pathname, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, password: password.value }),
    });
    if (answer.ok) {
      form.reset();
      return tell(words.done, 'good');
    }
    const { error } = await answer.json();
    tell(
      (error.param === 'token' || error.param === 'password' ? words[error.param] : undefined) ?? words.failed,
      'bad',
    );
  } catch {
    tell(words.offline, 'bad');
  }
  form.elements.send.disabled = false;
});

// Sends the new password with the link's secret. The secret follows the #, so that no server log or Referer contains it.
const form = document.querySelector('form');
const [state, password, repeated] = [form.querySelector('output'), form.elements.password, form.elements.repeated];
const token = location.hash.slice(1);
// Keeps the secret out of the browser's history.
history.replaceState(null, '', location.pathname);

const tell = (text, isBad) => {
  state.textContent = text;
  state.dataset.bad = String(isBad);
};

const WORDS = {
  token: 'Este link já foi usado ou expirou. Peça um novo.',
  password: 'A senha deve ter de 12 a 128 caracteres.',
};

if (token === '') tell(WORDS.token, true);

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  if (password.value !== repeated.value) return tell('As senhas não são iguais.', true);
  form.elements.send.disabled = true;
  tell('Um momento…', false);
  try {
    const answer = await fetch(location.pathname, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, password: password.value }),
    });
    if (answer.ok) {
      form.reset();
      return tell('Senha salva. Você já pode entrar no painel.', false);
    }
    const { error } = await answer.json();
    tell(WORDS[error.param] ?? 'Não foi possível salvar a senha. Tente de novo em um minuto.', true);
  } catch {
    tell('Sem conexão. Tente de novo.', true);
  }
  form.elements.send.disabled = false;
});

// Prints the dispute cases that opened on a day (UTC), newest first, to find cases that webhooks have missed.
const [BASE_URL, API_KEY, DAY] = process.argv.slice(2);
const start = Date.parse(`${DAY}T00:00:00.000Z`);
// The bounds are exclusive, so the lower bound is the last millisecond of the previous day.
const bounds = {
  created_after: new Date(start - 1).toISOString(),
  created_before: new Date(start + 86_400_000).toISOString(),
};
let after = null;
do {
  const query = new URLSearchParams({ limit: '100', ...bounds, ...(after && { starting_after: after }) });
  const response = await fetch(`${BASE_URL}/v1/med/cases?${query}`, { headers: { apikey: API_KEY } });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  const page = await response.json();
  for (const { id, charge_id, status, money_outcome } of page.data)
    console.log([id, charge_id, status, money_outcome ?? 'open'].join(' '));
  after = page.next_cursor;
} while (after !== null);

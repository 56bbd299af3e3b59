// The attacker, in a process of its own so that its cost is not measured. It starts on an order and ends with its tally.
import { ATTACKS, type AttackOrder } from './attacks.ts';
import { Tally } from './requests.ts';

const stopping = new AbortController();
const tally = new Tally();
let attacks: Promise<unknown> = Promise.resolve();

process.on('message', (message: AttackOrder | 'stop') => {
  if (message !== 'stop') {
    const chosen = ATTACKS.filter((_, n) => message.attacks.includes(n + 1));
    attacks = Promise.all(chosen.map((attack) => attack(message, tally, stopping.signal)));
    attacks.catch((error: Error) => {
      process.stderr.write(`attack: ${error.stack}\n`);
      process.exit(1);
    });
    return;
  }
  stopping.abort();
  void attacks.then(() => process.send?.(tally.counts, () => process.disconnect()));
});

// `npm run listen`: receives the demo account's webhooks on loopback, verifies each signature and prints it, until Ctrl-C.
import { listenForWebhooks } from '../demo/listen.ts';
import { outcomeOf } from './explain.ts';

try {
  await listenForWebhooks(process.env, (text) => process.stdout.write(`${text}\n`));
  process.exit(0);
} catch (error) {
  const { says, code } = outcomeOf(error);
  process.stderr.write(`quita: ${says}\n`);
  process.exit(code);
}

// `npm run listen`: receives the demo account's webhooks on loopback, verifies each signature and prints it, until Ctrl-C.
import { isOperatorsError } from './database.ts';
import { listenForWebhooks } from './demo/listen.ts';

try {
  await listenForWebhooks(process.env, (text) => process.stdout.write(`${text}\n`));
  process.exit(0);
} catch (error) {
  const { message, stack } = error as Error;
  process.stderr.write(`quita: ${isOperatorsError(error) ? message : (stack ?? message)}\n`);
  process.exit(isOperatorsError(error) ? 2 : 1);
}

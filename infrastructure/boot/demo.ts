// `npm run demo`: a told tour on the running system, in well under a minute (charge, QR, payment, webhook, wallet, events, verify).

import { isOperatorsError } from './database.ts';
import { demoTour } from './demo/tour.ts';

try {
  await demoTour(process.env, (text) => process.stdout.write(`${text}\n`));
  process.exit(0);
} catch (error) {
  const { message, stack } = error as Error;
  process.stderr.write(`quita: ${isOperatorsError(error) ? message : (stack ?? message)}\n`);
  process.exit(isOperatorsError(error) ? 2 : 1);
}

// `npm run demo`: a told tour on the running system, in well under a minute (charge, QR, payment, webhook, wallet, events, verify).
import { demoTour } from '../demo/tour.ts';
import { outcomeOf } from './explain.ts';

try {
  await demoTour(process.env, (text) => process.stdout.write(`${text}\n`));
  process.exit(0);
} catch (error) {
  const { says, code } = outcomeOf(error);
  process.stderr.write(`quita: ${says}\n`);
  process.exit(code);
}

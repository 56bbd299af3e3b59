// `npm run projector`: writes the read models; the first one leads, others stand by.
import { runRole } from './main.ts';

await runRole('projector');

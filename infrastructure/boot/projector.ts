// `npm run projector`: writes the read models. One process leads; others stand by.
import './compileCache.ts';

const { runRole } = await import('./main.ts');
await runRole('projector');

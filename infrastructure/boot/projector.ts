// `npm run projector`: writes the read models; the first one leads, others stand by.
import './compileCache.ts';

const { runRole } = await import('./main.ts');
await runRole('projector');

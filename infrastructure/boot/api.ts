// `npm run api`: the HTTP interface and the payer's page; any number of them.
import './compileCache.ts';

const { runRole } = await import('./main.ts');
await runRole('api');

// `npm run api`: serves the HTTP API and the payer's page. Any number of these processes can run.
import './compileCache.ts';

const { runRole } = await import('./main.ts');
await runRole('api');

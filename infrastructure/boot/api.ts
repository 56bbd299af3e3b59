// `npm run api`: the HTTP interface and the payer's page; any number of them.
import { runRole } from './main.ts';

await runRole('api');

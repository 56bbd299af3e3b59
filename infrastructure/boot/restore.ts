// `npm run restore`: see infrastructure/databaseCopy/program.ts.
import './compileCache.ts';

const { runCopy } = await import('../databaseCopy/program.ts');
process.exit(await runCopy('restore', process.argv.slice(2), process.env, process.stdout, process.stderr));

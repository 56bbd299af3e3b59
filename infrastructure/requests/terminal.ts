// CLI commands of the request log.
export { requestCommands as commands } from '../cli/requests.ts';

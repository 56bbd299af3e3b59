// What the request log has at a terminal.
export { requestCommands as commands } from '../cli/requests.ts';

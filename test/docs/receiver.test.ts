import { describeReceiver } from './receiverProgram.ts';

describeReceiver('Node', [process.execPath, 'receiver.mjs']);

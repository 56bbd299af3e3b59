import { describeReceiver } from '../docs/receiverProgram.ts';

describeReceiver('Python', ['python3', 'receiver.py']);

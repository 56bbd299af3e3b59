import { createServer } from 'node:http';
import { verifyWebhook } from './verifyWebhook.mjs';

// During a rotation, list the new secret and the old one. Store handled ids in a unique column of your database.
const secrets = process.env.WEBHOOK_SECRETS.split(',');
const handled = new Set();

createServer(async (request, response) => {
  try {
    const rawBody = Buffer.concat(await request.toArray());
    const { id, type } = verifyWebhook(secrets, request.headers, rawBody);
    if (!handled.has(id)) console.log(`signature valid: ${type} ${id}`);
    handled.add(id);
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(400).end(error.message);
  }
}).listen(Number(process.env.PORT), '127.0.0.1');

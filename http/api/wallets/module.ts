// Wallets over HTTP.
import { httpModule } from '../../kernel/httpModule.ts';
import { WALLETS } from './tags.ts';
import { getBalanceRoute, listWalletsRoute } from './wallets.ts';

export const wallets = httpModule({
  name: 'wallets',
  chapters: [WALLETS],
  routes: [getBalanceRoute, listWalletsRoute],
});

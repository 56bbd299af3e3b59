// The descriptions of the operations, by operationId. test/http/openapi/document.test.ts compares the keys with the route table.

const CASE_ALIAS = (operation: string): string =>
  `An alias of \`${operation}\` for integrations that use the older path. Requests and responses are identical.`;

const MERCHANT = {
  createCharge:
    'Creates a Pix charge and returns its copy-and-paste code, its QR code and a checkout page. A repeat with the same `Idempotency-Key` and body returns the first response and creates nothing.',
  createPixCharge:
    'Does the same as `createCharge` with `payment_method` set to `pix`. Both operations share their idempotency keys.',
  getCharge: 'Returns one charge of this account and mode. Charges of the other mode return 404.',
  listCharges:
    'Returns charges sorted by `created_at`, newest first. To read the next page, pass `next_cursor` as `starting_after`.',
  createPayment:
    'Creates a payment that the payer can settle with any of the named methods. The response has the status PENDING; a background job then requests an instrument for each method. Webhooks and `getPayment` report the result.',
  listPayments:
    'Returns payments by page number, with the total count. Use `sortBy` and `sortOrder` to change the order. Unknown parameters are rejected.',
  getPaymentStats:
    'Counts payments and sums their volume for the last `days` days. Days are those of São Paulo, and today is included.',
  getPaymentMetrics:
    'Returns the conversion funnel, volumes by method, fees and the time that payers take. Days are those of São Paulo, and today is included.',
  getPayment: 'Returns one payment with all fields. Fields of methods that the payment does not offer are null.',
  refundPayment:
    'Refunds a settled payment, in full or in part. Without `amount`, the rest is refunded. The refund begins as PENDING and ends as REFUNDED or FAILED. A repeat with the same `idempotencyKey` and body returns the first response.',
  listRefunds: 'Returns every refund of a payment. A payment has at most 100 refunds, so the list has no pages.',
  cancelPayment:
    'Cancels a payment whose status is PENDING, WAITING_PAYMENT or PROCESSING. Refund a settled payment instead.',
  resendWebhook:
    'Sends the webhooks of the payment’s current status again, with the same event ids. A payment allows 100 resends.',
  getProviderStatus:
    'Asks the provider for its own status of the payment. Use it to compare both sides when they seem to differ.',
  getReceipt:
    'Returns JSON that contains the receipt: `base64` is a PDF file. The receipt exists once the payment is settled and its provider issues one.',
  listMedCases:
    'Returns dispute cases, newest first. To read the next page, pass `next_cursor` as `starting_after`. Both date bounds are exclusive.',
  getMedCase: 'Returns one dispute case with its status, its deadline and what happened to the money.',
  appealMedCase:
    'Objects to an open case. The payer’s bank then decides. Upload evidence before or after the appeal. The disputed amount stays retained.',
  acceptMedCase: 'Accepts an open case. The retained amount is lost. This can’t be undone.',
  listInfractions: CASE_ALIAS('listMedCases'),
  getInfraction: CASE_ALIAS('getMedCase'),
  appealInfraction: CASE_ALIAS('appealMedCase'),
  acceptInfraction: CASE_ALIAS('acceptMedCase'),
  listMedCaseEvidence:
    'Returns the confirmed files of a case. Each `view_url` is valid for 5 minutes. Unconfirmed uploads are not listed.',
  grantMedCaseEvidence:
    'Returns a signed upload URL for one file. Send the file by PUT with the returned headers within 15 minutes, then call `completeMedCaseEvidence`.',
  completeMedCaseEvidence:
    'Checks an uploaded file and adds it to the case. A repeat returns the same evidence. If the file is not of its declared type, request a new upload.',
  listInfractionEvidence: CASE_ALIAS('listMedCaseEvidence'),
  grantInfractionEvidence: CASE_ALIAS('grantMedCaseEvidence'),
  completeInfractionEvidence: CASE_ALIAS('completeMedCaseEvidence'),
  getBalance:
    'Returns available, pending and retained amounts. `available` may be negative after a refund or a lost dispute.',
  listWallets: 'Returns the wallets as an array, one entry per currency, in the older format.',
  registerWebhookEndpoint:
    'Registers a URL for the events that you name. Store the `secret`: later responses don’t contain it. An account has at most 16 endpoints in each mode.',
  listWebhookEndpoints:
    'Returns all endpoints of this mode. `health` tells whether deliveries to an endpoint succeed and how many wait.',
  changeWebhookEndpoint:
    'Changes the URL, the events or the status of an endpoint. Fields that you omit keep their values. An INACTIVE endpoint gets no new deliveries.',
  rotateWebhookSecret:
    'Replaces the signing secret. The old secret stops at once, so update your receiver when the response arrives.',
  pingWebhookEndpoint:
    'Sends a signed test message to the endpoint and waits for its response, at most 30 seconds. A ping is not an event, so no list contains it.',
  deleteWebhookEndpoint: 'Deletes an endpoint. Its pending deliveries are cancelled.',
  listWebhookDeliveries: 'Returns deliveries of this mode. Filter them by status, event type or endpoint.',
  redriveWebhookDeliveries:
    'Sends failed deliveries again. Without filters, it takes all of them. With `dryRun`, it only counts them. One delivery per endpoint goes first; the others follow when it succeeds.',
  getWebhookDelivery:
    'Returns one delivery with its payload and the log of its attempts: time, status code, duration and error.',
  retryWebhookDelivery:
    'Starts an attempt at once, whatever the status of the delivery. A delivery that has ended starts a new round of attempts.',
  getWebhookStats: 'Counts the deliveries of this mode by status.',
  rotateOverrideSecret:
    'Replaces the secret that signs deliveries to the `webhookUrl` of a payment. The old secret stops at once.',
  listEventCatalogue: 'Returns every event name with its description. This operation needs no key.',
} as const;

const SANDBOX = {
  sandboxPay:
    'Simulates a payer’s Pix. Without a body, the exact amount is paid. Send another amount, another document or a late payment to test those cases.',
  sandboxAuthorize: 'Simulates a successful payment by card, boleto, MB WAY, Multibanco or crypto.',
  sandboxRefuse:
    'Simulates a decline by the acquirer. If the payment offers other methods, the payer can still use them.',
  sandboxProcessing: 'Simulates a payer who has started to pay. The payment becomes PROCESSING.',
  sandboxChargeback: 'Simulates a chargeback by the card’s issuer. The disputed amount is retained.',
  sandboxDispute: 'Simulates a dispute by the cardholder. The disputed amount is retained.',
  requestPayout:
    'Moves money from the wallet to a Pix key. The amount and its fee leave `available` at once. A payout is granted only if the available balance covers both. A repeat with the same `Idempotency-Key` and body returns the first response.',
  getPayout: 'Returns a payout, or the Pix transfer of a cash-out refund. The destination is masked.',
  listPayouts:
    'Lists payouts and the Pix transfers of cash-out refunds, newest first. Pass `next_cursor` as `starting_after` to get the next page.',
  cancelPayout:
    'Cancels a pending payout. The amount and the fee return to the wallet. A repeat returns the cancelled payout.',
  getPayoutReceipt: 'Returns the receipt of a paid payout as a PDF in base64.',
  approvePayout:
    'Approves a payout that awaits approval. The user who requested the payout, or issued the API key that did, can’t approve it.',
  rejectPayout:
    'Rejects a payout that awaits approval. It fails with `failure_reason` `rejected`, and its money returns to the wallet.',
  sandboxConfirmPayout: 'Simulates the bank’s payment of a payout. Use it when `auto_confirm_payouts` is switched off.',
  sandboxFailPayout: 'Simulates a bank that rejects a payout. The amount and the fee return to the wallet.',
  sandboxConfirmRefund:
    'Simulates the bank’s confirmation of a refund. Use it when `auto_confirm_refunds` is switched off.',
  sandboxFailRefund: 'Simulates a bank that rejects a refund. The amount returns to the wallet.',
  sandboxOpenMedCase: 'Simulates a dispute by the payer’s bank about a paid charge. It opens a dispute case.',
  sandboxRequestEvidence: 'Simulates a request for evidence. The case shows the time in `evidence_requested_at`.',
  sandboxDecideMedCase:
    'Simulates the decision of the payer’s bank. With `review`, the outcome waits for an approval and changes nothing until then.',
  sandboxWithdrawMedCase: 'Simulates a payer who withdraws the dispute. The retained amount becomes available again.',
  sandboxReviewMedCase: 'Approves or rejects an outcome that waits for review, as an operator of the platform would.',
  changeSandboxSettings:
    'Changes the settings of this account’s sandbox. Fields that you omit keep their values. Live mode is not affected.',
  getSandboxClock: 'Returns account time in test mode. It equals real time until you advance the test clock.',
  advanceSandboxClock:
    'Moves the test clock forward. Expiries, releases and webhook retries that fall due happen before the response. The clock never goes back.',
  flushSandboxDeliveries:
    'Attempts pending webhook deliveries and waits up to 5 seconds until none is due. Use it in tests before you check your receiver.',
} as const;

const DASHBOARD = {
  listRequestLogs:
    'Returns API requests of the last 30 days in both modes, newest first. Filter them to find a request that failed.',
  logIn:
    'Checks an email address, a password and, for a user who has a second factor, a `code`. Returns a token for the dashboard operations, which is valid for one hour.',
  logOut: 'Ends the session. Its token stops working at once.',
  changePassword:
    'Changes the password of the current user. Every other session of this user ends; the current session continues.',
  enrolTotp:
    'Returns the secret of a new second factor. Logins do not change until `confirmTotp`. A repeat replaces the pending secret. A user who has a second factor sends a `code` of it.',
  confirmTotp:
    'Puts the pending second factor in force and returns ten recovery codes, which are shown once. Every other session of this user ends.',
  issueApiKey:
    'Issues an API key. Store `apiKey`: later responses don’t contain it. Only an OWNER or ADMIN may issue keys.',
  listApiKeys:
    'Returns the active keys of the account by their prefixes. `access.canManage` tells whether the user may change them.',
  rotateApiKey:
    'Issues a new key of the same mode and revokes the old one at once. Only an OWNER or ADMIN may rotate keys.',
  revokeApiKey: 'Revokes a key at once. This can’t be undone. Only an OWNER or ADMIN may revoke keys.',
  requestPasswordReset:
    'Sends a link for a new password to a user’s email address. The response is the same for unknown addresses.',
  getAccount: 'Returns the account of the current user with its settings and fees.',
  changeAccountSettings:
    'Changes the settings that belong to the merchant, such as branding and cash-out destinations. Fields that you omit keep their values.',
  uploadLogo: 'Sets the logo that payers see on the checkout page and on receipts. Send the image itself as the body.',
  removeLogo: 'Removes the logo. The checkout page and receipts then show the name of the merchant.',
} as const;

const PLATFORM = {
  createAccount:
    'Opens an account with an OWNER, a test key and a live key. Store the password and both keys: later responses don’t contain them.',
  listAccounts: 'Returns the accounts of the platform. `suspendedAt` is set on suspended accounts.',
  showAccount: 'Returns one account with its settings, fees and limits.',
  suspendAccount:
    'Suspends an account: its keys and logins are rejected and its sessions end. Open payments continue, and cash-outs wait.',
  reopenAccount: 'Ends a suspension. The keys work again, and users can log in.',
  changeSettingsOfAccount:
    'Changes fees, limits and other agreed settings of an account. Fields that you omit keep their values.',
  uploadLogoOfAccount: 'Sets the logo of an account. Send the image itself as the body.',
  removeLogoOfAccount: 'Removes the logo of an account.',
  listKeysOfAccount: 'Returns the active keys of an account by their prefixes.',
  issueKeyOfAccount: 'Issues an API key for an account. Store `apiKey`: later responses don’t contain it.',
  rotateKeyOfAccount: 'Issues a new key of the same mode and revokes the old one at once.',
  revokeKeyOfAccount: 'Revokes a key of an account at once. This can’t be undone.',
  addUser: 'Creates a user and returns a password once. Quita sends no email.',
  inviteUser:
    'Creates a user and sends a link for the first password. The link works once, within one hour. For a user without a password, it sends a new link.',
  listUsers: 'Returns the users of the platform, or those of one account.',
  showUser: 'Returns one user with the role and the status.',
  disableUser: 'Disables a user. All sessions of this user end at once.',
  enableUser: 'Enables a disabled user, who can then log in again.',
  resetSecondFactor:
    'Removes the second factor of a user, who can then log in with the password alone and enrol again. All sessions of this user end.',
  changeUserRole: 'Changes the role of an account’s user. The new role applies to current sessions, too.',
  listHeld: 'Returns the Pix payments that wait for an operator: held for review, or rejected by the bank on return.',
  releaseHeld: 'Credits a held Pix to the merchant. The payment becomes paid.',
  settleCase:
    'Settles a case whose reported amount differs from the charge: holds an amount, books it as lost, or moves nothing.',
  dismissCaseReport: 'Takes a report of the bank off the review list. The report stays recorded.',
  settleHeld:
    'Settles a return that the bank refused for good: by a Pix-out to a key, or by writing the amount off to the platform’s account.',
  returnHeld:
    'Returns a held Pix to its payer. If the bank rejected an earlier return, it is requested again. The payment becomes refunded once the bank accepts.',
  listDeadLetters: 'Returns webhook deliveries that failed after their last attempt.',
  redriveDeadLetters: 'Sends failed webhook deliveries again. With `dryRun`, it only counts them.',
  listFailedJobs: 'Returns background jobs that failed. Jobs that failed for good are kept for 30 days.',
  redriveJobs: 'Starts failed jobs again: one job, one queue, or all of them. Completed steps are not repeated.',
  listCaseReviews: 'Returns the dispute cases whose outcomes wait for an operator.',
  approveCaseReview: 'Approves the outcome of a dispute case. The money moves accordingly.',
  rejectCaseReview: 'Rejects the outcome of a dispute case. The case continues as before.',
  listPayoutReviews: 'Returns the payouts of all accounts that await approval, or those of one account.',
  showPayout: 'Returns a requested payout of any account, whatever its status.',
  approvePayoutReview:
    'Approves a payout for an account that has no one else to do it. An operator who issued the API key that requested the payout can’t approve it.',
  rejectPayoutReview:
    'Rejects a payout that awaits approval. It fails with `failure_reason` `rejected`, and its money returns to the wallet.',
  checkLedger:
    'Verifies that every ledger entry and the ledger as a whole sum to zero, and that balances match their postings.',
  showLedger: 'Returns the ledger postings of one payment, each with its event, account, amount and reason.',
  listProjections: 'Returns the position of each read model and process in the event log.',
  verifyProjections:
    'Replays the event log and compares the result with every read model. The response streams progress, then a report.',
  rebuildProjection:
    'Rebuilds a read model beside the live copy and then swaps both. An interrupted rebuild continues with the next call.',
  readLog: 'Streams the event log in order. With `follow`, the stream stays open for new events.',
  showRequest: 'Returns the requests that carried a request id, and the events that they caused.',
  showStream: 'Returns the events of one stream in order.',
  listParked: 'Returns parked streams: a read model or process could not apply one of their events and stopped there.',
  retryAllParked: 'Retries all parked streams after a fix. The waiting events of each stream are applied in order.',
  showParked: 'Returns the consumers that parked a stream, the error, and the waiting events.',
  retryParked: 'Retries one parked stream after a fix. Its waiting events are applied in order.',
  skipParked: 'Skips the event that blocks a parked stream. The log records the reason.',
} as const;

export const DESCRIPTIONS: { readonly [operationId: string]: string } = {
  ...MERCHANT,
  ...SANDBOX,
  ...DASHBOARD,
  ...PLATFORM,
};

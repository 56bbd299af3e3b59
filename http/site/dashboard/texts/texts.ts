// All texts of the dashboard, one file per language. A missing text does not compile.
import type { FailedJob } from '../../../../application/ports/failedJobs.ts';
import type { FindingKind } from '../../../../application/ports/providerBooks.ts';
import type { CallbackOutcome } from '../../../../application/ports/providerCallbacks.ts';
import type { ReadModelRun } from '../../../../application/ports/readModelRuns.ts';
import type { RefundView } from '../../../../application/ports/readModels/views.ts';
import type { ErasedView, HeldView } from '../../../../application/privacy/heldView.ts';
import type { NamedSubject } from '../../../../application/privacy/namedSubject.ts';
import type { PaymentMethod } from '../../../../domain/charge/methods.ts';
import type { CaseStatus, CaseType, MoneyOutcome, NeverBecause } from '../../../../domain/dispute/medCase.ts';
import type { CaseWaitsBecause } from '../../../../domain/dispute/waiting.ts';
import type { HeldReason } from '../../../../domain/payment/heldMoney.ts';
import type { ConnectionView } from '../../../../domain/presentation/connection.ts';
import type { DeliveryStatus } from '../../../../domain/presentation/delivery.ts';
import type { PayoutStatus } from '../../../../domain/presentation/payout.ts';
import type { PublicStatus } from '../../../../domain/presentation/status.ts';
import type { AccountRole, Role } from '../../../../domain/user/user.ts';
import type { CARD_ACTS, OPEN_ACTS } from '../payments/acts.ts';
import type { ConnectionField } from '../platform/connectionFields.ts';
import type { PlatformSection, PlatformTab } from '../platform/sections.ts';
import type { Field as SettingsField } from '../settings/fieldNames.ts';

/** The pages of operators. */
interface PlatformTexts {
  /** The name of all these pages, used in their titles. */
  readonly name: string;
  readonly band: string;
  readonly navigation: string;
  readonly sections: { readonly [S in PlatformSection]: string };
  readonly overview: {
    readonly lead: string;
    readonly calm: string;
    readonly held: string;
    readonly reviews: string;
    readonly deadlines: string;
    readonly deadlinesNote: (hours: number) => string;
    readonly payouts: string;
    readonly deadLetters: string;
    readonly parked: string;
    readonly connections: string;
  };
  readonly settings: { readonly enrolFirst: string };
  readonly account: string;
  readonly since: string;
  readonly reason: string;
  readonly reasonHint: string;
  readonly badReason: string;
  readonly resolve: string;
  readonly cut: (shown: number, total: number) => string;
  readonly held: {
    readonly lead: string;
    readonly one: string;
    readonly empty: string;
    readonly nothingHeld: string;
    readonly why: string;
    readonly since: string;
    readonly refusal: string;
    readonly payer: string;
    readonly expected: string;
    readonly reasons: { readonly [R in HeldReason]: string };
    readonly release: string;
    readonly releaseLead: string;
    readonly cannotRelease: string;
    readonly return: string;
    readonly returnLead: string;
    readonly cannotReturn: string;
    readonly settle: string;
    readonly settleLead: string;
    readonly goneLead: string;
    readonly cannotSettle: string;
    readonly how: string;
    readonly payOut: string;
    readonly writeOff: string;
    readonly pixKey: string;
    readonly pixKeyHint: string;
  };
  readonly disputes: {
    readonly waiting: string;
    readonly noneWaits: string;
    readonly nearLead: (hours: number) => string;
    readonly noneNear: string;
    readonly why: string;
    readonly because: { readonly [B in CaseWaitsBecause]: string };
    readonly never: { readonly [N in NeverBecause]: string };
    readonly results: { readonly agreed: string; readonly disagreed: string; readonly withdrawn: string };
    readonly bankId: string;
    readonly noCase: string;
    readonly needsNobody: string;
    readonly approve: string;
    readonly approveLead: string;
    readonly reject: string;
    readonly rejectLead: string;
    readonly settle: string;
    readonly settleLead: string;
    readonly verdict: string;
    readonly settlings: { readonly held: string; readonly lost: string; readonly nothing: string };
    readonly amount: string;
    readonly settleAmountHint: string;
    readonly dismiss: string;
    readonly dismissLead: string;
    readonly rule: string;
    readonly ruleLead: string;
    readonly ruling: string;
    readonly payerGot: string;
    readonly payerGotHint: string;
    readonly open: string;
    readonly openLead: string;
    readonly chargeHint: string;
    readonly badCharge: string;
  };
  readonly payouts: {
    readonly lead: string;
    readonly empty: string;
    readonly find: string;
    readonly findHint: string;
    readonly show: string;
    readonly unknown: string;
    readonly approveLead: string;
    readonly rejectLead: string;
  };
  readonly connections: {
    readonly lead: string;
    readonly empty: string;
    readonly add: string;
    readonly addLead: string;
    readonly findings: string;
    readonly everybody: string;
    readonly statuses: { readonly [S in ConnectionView['status']]: string };
    readonly circuit: string;
    readonly circuits: { readonly [C in ConnectionView['circuit']]: string };
    readonly openWork: string;
    readonly openPayments: string;
    readonly openPayouts: string;
    readonly methods: string;
    readonly certificate: string;
    readonly daysLeft: (days: number) => string;
    readonly certificateStays: string;
    readonly previousCallback: string;
    readonly addedAt: string;
    readonly fields: { readonly [F in ConnectionField]: string };
    readonly hints: { readonly [F in ConnectionField]?: string };
    readonly change: string;
    readonly switches: { readonly enable: string; readonly drain: string; readonly disable: string };
    readonly switchLeads: { readonly enable: string; readonly drain: string; readonly disable: string };
    readonly check: string;
    readonly checkLead: string;
    readonly checkGood: string;
    readonly checkBad: string;
    readonly stepGood: string;
    readonly stepBad: string;
    readonly webhook: string;
    readonly webhookLead: string;
    readonly showWebhook: string;
    readonly registerWebhook: string;
    readonly noWebhook: string;
    readonly webhookCurrent: string;
    readonly webhookOther: string;
    readonly rotateSecret: string;
    readonly rotateSecretLead: string;
    readonly rotateCallback: string;
    readonly rotateCallbackLead: string;
    readonly rotatedLead: string;
    readonly callbackUrl: string;
    readonly callbackLead: string;
    readonly toConnection: string;
    readonly remove: string;
    readonly removeLead: string;
  };
  readonly callbacks: {
    readonly title: string;
    readonly lead: string;
    readonly empty: string;
    readonly receivedAt: string;
    readonly outcome: string;
    readonly outcomes: { readonly [O in CallbackOutcome]: string };
    readonly times: string;
    readonly about: string;
    readonly resolve: string;
  };
  readonly reconciliation: {
    readonly title: string;
    readonly compare: string;
    readonly compareLead: string;
    readonly day: string;
    readonly report: string;
    readonly sums: string;
    readonly of: {
      readonly opening: string;
      readonly received: string;
      readonly returned: string;
      readonly paidOut: string;
      readonly fees: string;
      readonly closing: string;
      readonly difference: string;
    };
    readonly kind: string;
    readonly kinds: { readonly [K in FindingKind]: string };
    readonly reference: string;
    readonly connection: string;
    readonly ofConnection: string;
    readonly found: string;
    readonly resolved: string;
    readonly findingsLead: string;
    readonly noFindings: string;
    readonly openOnly: string;
    readonly withResolved: string;
  };
  readonly accounts: {
    readonly name: string;
    readonly nameHint: string;
    readonly open: string;
    readonly suspended: string;
    readonly suspendedAt: string;
    readonly openedAt: string;
    readonly find: string;
    readonly findHint: string;
    readonly show: string;
    readonly unknown: string;
    readonly empty: string;
    readonly first: string;
    readonly next: string;
    readonly create: string;
    readonly createLead: string;
    readonly created: string;
    readonly ownersEmail: string;
    readonly badEmail: string;
    readonly testKey: string;
    readonly liveKey: string;
    readonly suspend: string;
    readonly suspendLead: string;
    readonly reopen: string;
    readonly reopenLead: string;
    readonly settings: string;
    readonly option: string;
    readonly value: string;
    readonly changeSetting: string;
    readonly lastUsed: string;
    readonly noKeys: string;
    /** By the label on the command line. Settings of extensions keep that label. */
    readonly settingNames: { readonly [label: string]: string };
    readonly settingValues: { readonly [text: string]: string };
    /** By the option of the command line. Options of extensions keep their description. */
    readonly options: { readonly [option: string]: string };
  };
  readonly operators: { readonly lead: string; readonly add: string; readonly added: string };
  readonly users: {
    readonly title: string;
    readonly user: string;
    readonly name: string;
    readonly role: string;
    readonly roles: { readonly [R in Role]: string };
    readonly empty: string;
    readonly add: string;
    readonly how: string;
    readonly invite: string;
    readonly withPassword: string;
    readonly inviteAgain: string;
    readonly added: string;
    readonly addedAt: string;
    readonly hasPassword: string;
    readonly roleLead: string;
    readonly changeRole: string;
    readonly operatorsRole: string;
    readonly passwordLead: string;
    readonly sendPassword: string;
    readonly noFactor: string;
    readonly resetFactor: string;
    readonly resetFactorLead: string;
    readonly disable: string;
    readonly disableLead: string;
    readonly enable: string;
    readonly enableLead: string;
    readonly self: string;
  };
  readonly security: {
    readonly lead: string;
    readonly empty: string;
    readonly operator: string;
    readonly requests: string;
    readonly onlyChanges: string;
    readonly eventsTitle: string;
    readonly eventsLead: string;
    readonly noEvents: string;
    readonly event: string;
    readonly details: string;
    /** By the kind. Others are named as in the log. */
    readonly events: { readonly [security: string]: string };
    readonly everything: string;
  };
}

/** The operators' pages about the system, deliveries of all accounts, the audit log and erasure. */
interface OperationsTexts {
  readonly tabs: { readonly [T in PlatformTab]: string };
  readonly by: string;
  readonly error: string;
  readonly reloads: string;
  readonly stopReloading: string;
  readonly retry: string;
  readonly system: {
    readonly process: string;
    readonly version: string;
    readonly startedAt: string;
    readonly uptime: string;
    readonly readiness: string;
    readonly ready: string;
    readonly notReady: (reason: string) => string;
    readonly parkedStreams: string;
    readonly auditStopped: string;
    readonly checks: string;
    readonly checksLead: string;
    readonly madeAt: string;
    readonly checkNow: string;
    readonly checking: string;
    readonly check: string;
    readonly state: string;
    readonly good: string;
    readonly bad: string;
    readonly says: string;
    readonly leaders: string;
    readonly leadersLead: string;
    readonly noLeaders: string;
    readonly role: string;
    readonly address: string;
    readonly sameMachine: string;
    readonly alive: string;
    readonly stale: string;
  };
  readonly parked: {
    readonly lead: string;
    readonly empty: string;
    readonly consumer: string;
    readonly consumers: string;
    readonly stream: string;
    readonly event: string;
    readonly parkedAt: string;
    readonly retryAll: string;
    readonly retryAllLead: string;
    readonly one: string;
    readonly depends: string;
    readonly ofReadModel: string;
    readonly ofProcess: string;
    readonly ofMoney: string;
    readonly waiting: string;
    readonly waitingLead: string;
    readonly revision: string;
    readonly recordedAt: string;
    readonly data: string;
    readonly retryLead: string;
    readonly skip: string;
    readonly skipLead: string;
    readonly allConsumers: string;
    readonly force: string;
    readonly unmeant: (names: string) => string;
    readonly again: (consumer: string, revision: number, error: string) => string;
  };
  readonly jobs: {
    readonly queues: string;
    readonly noQueues: string;
    readonly queue: string;
    readonly ready: string;
    readonly running: string;
    readonly retrying: string;
    readonly failed: string;
    readonly oldest: string;
    readonly list: string;
    readonly listLead: string;
    readonly empty: string;
    readonly failedAt: string;
    readonly state: string;
    readonly attempts: string;
    readonly states: { readonly [S in FailedJob['state']]: string };
    readonly nextAttempt: (at: string) => string;
    readonly retryAll: string;
    readonly retryQueue: (queue: string) => string;
    readonly retryLead: string;
    readonly gone: string;
  };
  readonly readModels: {
    readonly lead: string;
    readonly name: string;
    readonly version: string;
    readonly position: string;
    readonly lag: string;
    readonly caughtUp: string;
    readonly unknownLag: string;
    readonly processes: string;
    readonly head: string;
    readonly rebuild: string;
    readonly rebuildAll: string;
    readonly verify: string;
    readonly workLead: string;
    readonly work: string;
    readonly runs: string;
    readonly noRuns: string;
    readonly outcome: string;
    readonly busy: string;
    readonly states: { readonly [S in ReadModelRun['state']]: string };
    readonly all: string;
    readonly rebuilt: (readModel: string, events: number, seconds: string) => string;
    readonly verified: (rows: number, differences: number) => string;
    readonly differsIn: (tables: string) => string;
    readonly leftOut: (streams: number) => string;
  };
  readonly deadLetters: {
    readonly lead: string;
    readonly empty: string;
    readonly emptyFiltered: string;
    readonly event: string;
    readonly endpoint: string;
    readonly ownUrl: string;
    readonly createdAt: string;
    readonly payment: string;
    readonly filter: string;
    readonly accountHint: string;
    readonly badAccount: string;
    readonly noAccount: string;
    readonly badFilter: string;
    readonly redrive: string;
    readonly redriveLead: string;
    readonly dryRun: string;
    readonly matched: (count: number) => string;
    readonly sendNow: string;
    readonly from: string;
    readonly to: string;
    readonly running: string;
    readonly progress: (sent: number, queued: number) => string;
    readonly askedAt: string;
  };
  readonly audit: {
    readonly log: string;
    readonly size: string;
    readonly root: string;
    readonly sealing: string;
    readonly lag: (seconds: string) => string;
    readonly unknownLag: string;
    readonly stopped: (reason: string) => string;
    readonly checkpoint: string;
    readonly noCheckpoint: string;
    readonly entries: (count: number) => string;
    readonly signedAt: string;
    readonly signedBy: string;
    readonly unknownKey: string;
    readonly anchors: string;
    readonly noAnchors: string;
    readonly anchor: string;
    readonly sentAt: string;
    readonly failures: string;
    readonly retryAt: string;
    readonly witnesses: string;
    readonly noWitnesses: string;
    readonly witness: string;
    readonly cosigned: string;
    readonly receivedAt: string;
    readonly keys: string;
    readonly key: string;
    readonly from: string;
    readonly until: string;
    readonly rotate: string;
    readonly rotateLead: string;
    readonly auditors: string;
    readonly auditorsLead: string;
    readonly noAuditors: string;
    readonly auditor: string;
    readonly issuedAt: string;
    readonly revokedAt: string;
    readonly issue: string;
    readonly token: string;
    readonly tokenLead: string;
    readonly badName: string;
    readonly revoke: string;
    readonly exporting: string;
    readonly exportLead: string;
  };
  readonly erasure: {
    readonly lead: string;
    readonly subject: string;
    readonly subjects: { readonly [Name in keyof NamedSubject]-?: string };
    readonly value: string;
    readonly badSubject: string;
    readonly find: string;
    readonly slow: string;
    readonly found: (count: number) => string;
    readonly none: string;
    readonly next: string;
    readonly what: string;
    readonly kinds: { readonly [K in HeldView['kind']]: string };
    readonly amount: string;
    readonly createdAt: string;
    readonly keptUntil: string;
    readonly notEnded: string;
    readonly erasedAt: string;
    readonly report: string;
    readonly reportLead: string;
    readonly erase: string;
    readonly eraseLead: string;
    readonly despite: string;
    readonly confirm: string;
    readonly notConfirmed: string;
    readonly personalReason: string;
    readonly outcome: string;
    readonly outcomes: { readonly [O in ErasedView['outcome']]: string };
    readonly because: string;
    readonly searchAgain: string;
  };
}

export interface Texts {
  readonly skip: string;
  readonly language: string;
  readonly navigation: string;
  readonly mode: { readonly label: string; readonly test: string; readonly live: string; readonly testNote: string };
  readonly pages: {
    readonly overview: string;
    readonly payments: string;
    readonly wallet: string;
    readonly payouts: string;
    readonly disputes: string;
    readonly webhooks: string;
    readonly developers: string;
    readonly sandbox: string;
    readonly settings: string;
  };
  readonly documentation: string;
  readonly signOut: string;
  readonly yes: string;
  readonly no: string;
  readonly none: string;
  readonly all: string;
  readonly apply: string;
  readonly older: string;
  readonly newest: string;
  readonly back: string;
  readonly copy: string;
  readonly copied: string;
  readonly goOn: string;
  readonly save: string;
  readonly shownOnce: string;
  readonly signIn: {
    readonly title: string;
    readonly lead: string;
    readonly email: string;
    readonly password: string;
    readonly code: string;
    readonly codeHint: string;
    readonly button: string;
    readonly wrong: string;
    readonly needsCode: string;
    readonly elsewhere: string;
    readonly membersElsewhere: string;
    readonly operatorsLead: string;
    readonly tooMany: string;
    readonly forgotten: string;
    readonly resetTitle: string;
    readonly resetLead: string;
    readonly resetButton: string;
    readonly resetSent: string;
    readonly signedOut: string;
  };
  readonly overview: {
    readonly today: string;
    readonly weekBefore: (amount: string) => string;
    readonly paidToday: string;
    readonly createdToday: string;
    readonly conversion: string;
    readonly conversionNote: string;
    readonly available: string;
    readonly pending: string;
    readonly retained: string;
    readonly nextRelease: (amount: string, when: string) => string;
    readonly volume: string;
    readonly day: string;
    readonly paidVolume: string;
    readonly paidPayments: string;
    readonly asTable: string;
    readonly recent: string;
    readonly seeAll: string;
    readonly failing: (count: number) => string;
    readonly failingLead: string;
    readonly empty: string;
  };
  readonly payments: {
    readonly create: string;
    readonly search: string;
    readonly searchHint: string;
    readonly status: string;
    readonly from: string;
    readonly to: string;
    readonly amount: string;
    readonly customer: string;
    readonly method: string;
    readonly createdAt: string;
    readonly description: string;
    readonly find: string;
    readonly filters: string;
    readonly moreFilters: string;
    readonly sort: string;
    readonly sorts: { readonly [S in 'newest' | 'oldest' | 'highest' | 'lowest']: string };
    readonly min: string;
    readonly max: string;
    readonly customerHint: string;
    readonly badDay: string;
    readonly badAmount: string;
    readonly endsBefore: string;
    readonly tooLong: string;
    readonly checkFilters: string;
    readonly first: string;
    readonly next: string;
    readonly download: string;
    readonly empty: string;
    readonly emptyFiltered: string;
    readonly caption: string;
  };
  readonly csv: { readonly word: string; readonly currency: string; readonly name: string };
  readonly create: {
    readonly title: string;
    readonly lead: string;
    readonly amount: string;
    readonly amountHint: string;
    readonly badAmount: string;
    readonly description: string;
    readonly descriptionHint: string;
    readonly name: string;
    readonly document: string;
    readonly documentHint: string;
    readonly badDocument: string;
    readonly optional: string;
    readonly button: string;
    readonly refused: string;
  };
  readonly payment: {
    readonly facts: string;
    readonly money: string;
    readonly id: string;
    readonly transaction: string;
    readonly endToEndId: string;
    readonly txid: string;
    readonly expiresAt: string;
    readonly paidAt: string;
    readonly payer: string;
    readonly document: string;
    readonly email: string;
    readonly providerFee: string;
    readonly platformFee: string;
    readonly net: string;
    readonly refunded: string;
    readonly link: string;
    readonly linkLead: string;
    readonly pixCode: string;
    readonly openCheckout: string;
    readonly receipt: string;
    readonly qrCode: string;
    readonly story: string;
    readonly by: string;
    readonly actions: string;
    readonly cancel: string;
    readonly cancelLead: string;
    readonly refund: string;
    readonly refundLead: (rest: string) => string;
    readonly refundAmount: string;
    readonly cannotRefund: string;
    readonly resend: string;
    readonly resendLead: string;
    readonly sandbox: string;
    readonly sandboxLead: string;
    readonly pay: string;
    readonly payWrong: string;
    readonly payOther: string;
    readonly refunds: string;
    readonly requestedAt: string;
    readonly movement: string;
    readonly sum: string;
    readonly ledger: string;
    readonly inWallet: string;
    readonly noReceipt: string;
    readonly noCheckout: (status: string) => string;
    readonly notOpen: string;
    readonly notDisputable: string;
    readonly acts: { readonly [A in (typeof OPEN_ACTS | typeof CARD_ACTS)[number]]: string };
    readonly itsRequest: string;
    readonly bankPays: string;
    readonly bankFails: string;
    readonly refundPreview: string;
    readonly refundConfirm: string;
    readonly stillRefundable: string;
    readonly afterwards: string;
    readonly feesStay: (fees: string) => string;
    readonly goesBelowZero: string;
    readonly mayNot: string;
  };
  readonly done: { readonly [Done in DoneAction]: string };
  readonly wallet: {
    readonly lead: string;
    readonly currency: string;
    readonly total: string;
    readonly statements: string;
    readonly month: string;
    readonly download: string;
    readonly balance: string;
    readonly openingBalance: string;
    readonly closingBalance: string;
    readonly byDay: string;
    readonly byDayNote: string;
    readonly noMovements: string;
    readonly releases: string;
    readonly noReleases: string;
    readonly statementsLead: string;
  };
  readonly webhooks: {
    readonly endpoints: string;
    readonly deliveries: string;
    readonly url: string;
    readonly events: string;
    readonly health: string;
    readonly healthy: string;
    readonly failing: string;
    readonly inactive: string;
    readonly event: string;
    readonly attempts: string;
    readonly lastAnswer: string;
    readonly nextAttempt: string;
    readonly scheduledAt: string;
    readonly noEndpoints: string;
    readonly noDeliveries: string;
    readonly noneOfPayment: string;
    readonly delivery: string;
    readonly request: string;
    readonly response: string;
    readonly retry: string;
    readonly duration: string;
    readonly at: string;
    readonly ownUrl: string;
    readonly noAnswer: string;
    readonly create: string;
    readonly createButton: string;
    readonly created: string;
    readonly secret: string;
    readonly secretLead: string;
    readonly toEndpoint: string;
    readonly urlHint: string;
    readonly badUrl: string;
    readonly noEvents: string;
    readonly allEvents: string;
    readonly legacyEvents: string;
    readonly endpoint: string;
    readonly change: string;
    readonly ping: string;
    readonly pingLead: string;
    readonly pause: string;
    readonly pauseLead: string;
    readonly resume: string;
    readonly resumeLead: string;
    readonly rotate: string;
    readonly rotateLead: string;
    readonly remove: string;
    readonly removeLead: string;
    readonly redrive: string;
    readonly redriveLead: string;
    readonly redriveNow: string;
    readonly pingReceived: (result: string, ms: number) => string;
    readonly pingFailed: (result: string, ms: number) => string;
    readonly failed: (count: number) => string;
  };
  readonly developers: {
    readonly keys: string;
    readonly keysLead: string;
    readonly noKeys: string;
    readonly key: string;
    readonly label: string;
    readonly labelHint: string;
    readonly issuedAt: string;
    readonly issue: string;
    readonly issueButton: string;
    readonly newKey: string;
    readonly newKeyLead: string;
    readonly rotate: string;
    readonly rotateLead: string;
    readonly rotatedLead: string;
    readonly revoke: string;
    readonly revokeLead: string;
    readonly tools: string;
    readonly requests: string;
    readonly requestsLead: string;
    readonly views: string;
    readonly requestsOfKey: string;
    readonly noRequests: string;
    readonly request: string;
    readonly by: string;
    readonly requestId: string;
    readonly events: string;
    readonly noEvents: string;
    readonly eventsUnknown: string;
    readonly noBodies: string;
    readonly show: string;
    readonly badStatus: string;
    readonly badKey: string;
    readonly reference: string;
    readonly errors: string;
  };
  readonly sandbox: {
    readonly clock: string;
    readonly clockLead: string;
    readonly now: string;
    readonly forward: string;
    readonly unit: string;
    readonly move: string;
    readonly badTime: string;
    readonly payLead: string;
    readonly units: { readonly minutes: string; readonly hours: string; readonly days: string };
  };
  readonly settings: {
    readonly own: string;
    readonly guards: string;
    readonly ownersOnly: string;
    readonly agreed: string;
    readonly agreedLead: string;
    readonly merchantName: string;
    readonly taxId: string;
    readonly receiver: string;
    readonly velocity: string;
    readonly holdDays: string;
    readonly logo: string;
    readonly logoLead: string;
    readonly password: string;
    readonly currentPassword: string;
    readonly newPassword: string;
    readonly changePassword: string;
    readonly wrongPassword: string;
    readonly factor: string;
    readonly factorLead: string;
    readonly currentCode: string;
    readonly currentCodeHint: string;
    readonly enrol: string;
    readonly needsCode: string;
    readonly wrongCode: string;
    readonly nothingPending: string;
    readonly scan: string;
    readonly qrCode: string;
    readonly typeInstead: string;
    readonly code: string;
    readonly confirm: string;
    readonly recoveryCodes: string;
    readonly recoveryLead: string;
    readonly perHour: (customer: number, account: number) => string;
    readonly passwordHint: (min: number) => string;
    readonly badValue: (field: string) => string;
    /** Somebody else has changed the fields that the user changed too. */
    readonly contested: (fields: string) => string;
    readonly fields: { readonly [F in SettingsField]: string };
    readonly hints: { readonly [F in Exclude<SettingsField, 'anyDestination'>]: string };
  };
  readonly disputes: {
    readonly toAnswer: string;
    readonly toAnswerLead: string;
    readonly noneToAnswer: string;
    readonly all: string;
    readonly empty: string;
    readonly emptyFiltered: string;
    readonly deadline: string;
    readonly noDeadline: string;
    readonly past: string;
    readonly openedAt: string;
    readonly reason: string;
    readonly type: string;
    readonly one: string;
    readonly held: string;
    readonly outcome: string;
    readonly payment: string;
    readonly seePayment: string;
    readonly underReview: string;
    readonly stepOpened: string;
    readonly stepAsked: string;
    readonly stepReminded: string;
    readonly stepAppealed: string;
    readonly stepClosed: string;
    readonly evidence: string;
    readonly noEvidence: string;
    readonly linksExpire: string;
    readonly file: string;
    readonly size: string;
    readonly appeal: string;
    readonly appealLead: string;
    readonly appealReason: string;
    readonly appealHint: string;
    readonly badReason: string;
    readonly accept: string;
    readonly acceptConfirm: string;
    readonly notConfirmed: string;
    readonly cannotAnswer: string;
    readonly onlyManagers: string;
    readonly simulateOpen: string;
    readonly decideLead: string;
    readonly decideLost: string;
    readonly decideWon: string;
    readonly decideWithdrawn: string;
    readonly acceptLead: (amount: string) => string;
    readonly stepEvidence: (file: string) => string;
  };
  readonly payouts: {
    readonly create: string;
    readonly empty: string;
    readonly emptyFiltered: string;
    readonly caption: string;
    readonly destination: string;
    readonly destinationHint: string;
    readonly badDestination: string;
    readonly amount: string;
    readonly badDescription: string;
    readonly lead: string;
    readonly preview: string;
    readonly previewTitle: string;
    readonly previewLead: string;
    readonly before: string;
    readonly fee: string;
    readonly rest: string;
    readonly willWait: string;
    readonly receipt: string;
    readonly noReceipt: string;
    readonly waitsFirst: string;
    readonly alreadyDecided: string;
    readonly insufficient: string;
    readonly confirm: string;
    readonly change: string;
    readonly id: string;
    readonly ofRefund: string;
    readonly waiting: string;
    readonly failure: string;
    readonly notApproved: string;
    readonly approve: string;
    readonly reject: string;
    readonly rejectReason: string;
    readonly reviewLead: string;
    readonly cancel: string;
    readonly refresh: string;
    readonly cancelLead: string;
    readonly cannotCancel: string;
    readonly notWaiting: string;
    readonly onlyManagers: string;
  };
  readonly platform: PlatformTexts;
  readonly operations: OperationsTexts;
  /** The page behind a mailed link. */
  readonly password: {
    readonly title: string;
    readonly lead: string;
    readonly wanted: string;
    readonly repeated: string;
    readonly save: string;
    readonly note: string;
    readonly signIn: string;
    readonly noScript: string;
    readonly mismatch: string;
    readonly wait: string;
    readonly done: string;
    readonly failed: string;
    readonly offline: string;
    readonly dead: string;
    readonly rule: (length: { readonly min: number; readonly max: number }) => string;
  };
  readonly team: {
    readonly title: string;
    readonly see: string;
    readonly onlyManagers: string;
    readonly users: string;
    readonly user: string;
    readonly name: string;
    readonly role: string;
    readonly addedAt: string;
    readonly change: string;
    readonly disable: string;
    readonly enable: string;
    readonly invite: string;
    readonly inviteLead: string;
    readonly inviteButton: string;
    readonly inviteAgain: string;
    readonly badEmail: string;
    readonly badRole: string;
    readonly first: string;
    readonly next: string;
    readonly roleOf: (name: string) => string;
    readonly roles: { readonly [R in AccountRole]: string };
    readonly rights: { readonly [R in AccountRole]: string };
  };
  /** Files that forms send. */
  readonly uploads: {
    readonly files: string;
    readonly filesHint: string;
    readonly image: string;
    readonly imageHint: string;
    readonly removeImage: string;
    readonly send: string;
    readonly progress: string;
    readonly cut: string;
    readonly none: string;
    readonly ended: string;
    readonly full: (max: number) => string;
    readonly refused: (count: number, all: number) => string;
  };
  readonly userStatuses: { readonly active: string; readonly disabled: string; readonly invited: string };
  readonly caseStatuses: { readonly [S in CaseStatus]: string };
  readonly caseTypes: { readonly [S in CaseType]: string };
  readonly moneyOutcomes: { readonly [S in MoneyOutcome]: string };
  readonly payoutStatuses: { readonly [S in PayoutStatus]: string };
  readonly statuses: { readonly [S in PublicStatus]: string };
  readonly refundStatuses: { readonly [S in RefundView['status']]: string };
  readonly methods: { readonly [M in PaymentMethod]: string };
  readonly deliveryStatuses: { readonly [S in DeliveryStatus]: string };
  readonly actor: { readonly key: string; readonly user: string; readonly quita: string; readonly bank: string };
}

/** The actions whose completion a page reports. */
export const DONE_ACTIONS = [
  'created',
  'cancelled',
  'refunded',
  'resent',
  'unsent',
  'paid',
  'retried',
  'disputed',
  'appealed',
  'accepted',
  'decided',
  'requested',
  'payoutCancelled',
  'approved',
  'rejected',
  'endpointChanged',
  'endpointPaused',
  'endpointResumed',
  'endpointDeleted',
  'redriven',
  'nothingRedriven',
  'keyRevoked',
  'clockMoved',
  'clockMoving',
  'settingsChanged',
  'passwordChanged',
  'parkedResumed',
  'parkedWaiting',
  'notParked',
  'eventSkipped',
  'jobsRetried',
  'noJobsRetried',
  'runStarted',
  'checksStarted',
  'deadLettersRedriven',
  'auditKeyRotated',
  'auditTokenRevoked',
  'heldReleased',
  'heldReturned',
  'heldSettled',
  'caseOpened',
  'caseReviewed',
  'caseSettled',
  'caseRuled',
  'reportDismissed',
  'connectionChanged',
  'connectionRemoved',
  'callbackResolved',
  'findingResolved',
  'compared',
  'comparing',
  'accountSuspended',
  'accountReopened',
  'userInvited',
  'passwordLinkSent',
  'factorReset',
  'invited',
  'roleChanged',
  'userDisabled',
  'userEnabled',
  'acted',
  'evidenceSent',
  'logoChanged',
  'logoRemoved',
] as const;
export type DoneAction = (typeof DONE_ACTIONS)[number];

"""Which exceptions make a Harbor trial's reward worthless, by the rules of Harbor 0.26."""

from __future__ import annotations

#: Exceptions after which a reward does not count: what failed was not the agent. Any other, a name that is not known
#: too, is the agent's own and leaves the reward valid. Results from 0.26 on say it themselves.
INVALID: frozenset[str] = frozenset(
    """
    AddTestsDirError
    AgentAuthenticationError
    AgentSetupTimeoutError
    ApiConnectionClosedError
    ApiConnectionError
    APIConnectionError
    ApiError
    APIError
    ApiInternalServerError
    ApiOverloadedError
    ApiProviderResourceNotFoundError
    ApiRateLimitError
    ApiResponseStalledError
    APIResponseValidationError
    ApiUsageLimitError
    AuthenticationError
    BadRequestError
    BudgetExceededError
    CancelledError
    DownloadVerifierDirError
    DspyImportError
    EnvironmentStartTimeoutError
    GKEExecStreamClosedError
    GKEPodNotFoundError
    HealthcheckError
    InternalServerError
    MemoryLimitExceededError
    MissingExtraError
    ModelNotFoundError
    NetworkConnectionError
    NotFoundError
    PermissionDeniedError
    RateLimitError
    RegradeError
    RewardFileEmptyError
    RewardFileNotFoundError
    RuntimeRequestError
    SandboxBuildFailedError
    SandboxLikelyOutOfMemoryError
    ServiceOperationsUnsupportedError
    ServiceUnavailableError
    SSHAccessError
    Timeout
    UnknownApiError
    UnprocessableEntityError
    UnsupportedModelParametersError
    UnsupportedParamsError
    VercelScopeError
    VerifierOutputParseError
    VerifierTimeoutError
    """.split()
)

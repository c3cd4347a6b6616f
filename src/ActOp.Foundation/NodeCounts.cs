namespace ActOp.Foundation;

/// <summary>What is counted only for the names of Orleans. None of it happens for each call.</summary>
internal enum NodeEvent
{
    CallCancelled,
    Forwarded,
    Rerouted,
    SendFailed,
    LongTurn,
    StartFailed,
    StartedTwice,
    Collection,
    Lookup,
    LookupHere,
    LookupHereFound,
    LookupSent,
    Registration,
    RegistrationHere,
    RegistrationSent,
    Unregistration,
    UnregistrationHere,
    UnregistrationSent,
    ProbeSent,
    ProbeReceived,
    ProbeAnswered,
    HealthCheck,
    HealthCheckFailed,
    ProducerAdded,
    ProducerRemoved,
    ConsumerAdded,
    ConsumerRemoved,
    AgentStarted,
    AgentStopped,
    QueueNotOpened,
    QueueNotRead,
    MessageRead,
    MessageDelivered,
}

/// <summary>How often each <see cref="NodeEvent"/> has happened on a node. Any thread.</summary>
internal sealed class NodeCounts
{
    private readonly long[] _counts = new long[Enum.GetValues<NodeEvent>().Length];

    internal long this[NodeEvent what] => Interlocked.Read(ref _counts[(int)what]);

    internal void Add(NodeEvent what, int count = 1) => Interlocked.Add(ref _counts[(int)what], count);
}

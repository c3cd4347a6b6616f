using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Locality;

/// <summary>How one migration of an exchange ended, on the wire.</summary>
[GenerateSerializer]
internal readonly record struct ReportMessage(ExchangeName Id, GrainId Grain, bool Moved);

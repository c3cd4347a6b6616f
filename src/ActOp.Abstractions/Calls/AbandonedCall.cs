namespace ActOp.Calls;

/// <summary>Carries the answer of a call whose object may still be in the callee's mailbox.</summary>
internal sealed class AbandonedCall(Call call) : Work
{
    internal override void Run(CallHost host) => call.ResumeCaller();
}

using ActOp.Calls;
using ActOp.Wire;
using Orleans.CodeGeneration;
using Orleans.Runtime;
using Orleans.Serialization.Invocation;

namespace ActOp.Serialization.Tests;

/// <summary>Runs every call at once on one target, through the wire if asked.</summary>
internal sealed class DirectRuntime(object target) : CallRuntime, ITargetHolder
{
    public bool ThroughWire { get; init; }

    public List<Call> Sent { get; } = [];

    public T Reference<T>()
    {
        Assert.True(TypeManifest.TryGetInterface(typeof(T), out var entry));
        var shared = new GrainReferenceShared(GrainType.Create("test"), GrainInterfaceType.Create(entry.Name), entry.Name, this);
        return (T)(object)entry.CreateReference(shared, IdSpan.Create("1"));
    }

    public object? GetComponent(Type componentType) => target;

    public object? GetTarget() => target;

    internal override void Send(Call call, GrainReference reference)
    {
        Sent.Add(call);
        var running = ThroughWire ? Travel(call) : call;
        ((RequestBase)running).SetTarget(this);
        Assert.True(running.Start());
        if (!ReferenceEquals(running, call))
        {
            call.Error = running.Error;
            call.BoxedResult = running.BoxedResult;
        }

        if ((call.Flags & InvokeMethodOptions.OneWay) != 0)
            call.Origin = CallOrigin.Nobody;
        Assert.True(call.TryClaim());
        call.Publish();
    }

    internal override void CallerCancelled(CallCancellation cancellation, CancellationToken token) => throw new NotSupportedException();

    internal override void Answered(Call call, Exception? error) => throw new NotSupportedException();

    internal override void Lost(Call call) => Assert.NotNull(call.Error);

    internal override void SendReply(Call call) => throw new NotSupportedException();

    internal override void ContextFailed(Exception exception) => throw new NotSupportedException();

    internal override void Resume(Call call) => call.ResumeCaller();

    internal override GrainReference CreateReference(GrainId grainId, Type interfaceType)
    {
        Assert.True(TypeManifest.TryGetInterface(interfaceType, out var entry));
        return entry.CreateReference(
            new GrainReferenceShared(grainId.Type, GrainInterfaceType.Create(entry.Name), entry.Name, this), grainId.Key);
    }

    internal override GrainId FindId(uint hash, ReadOnlySpan<byte> type, ReadOnlySpan<byte> key) => throw new NotSupportedException();

    internal override object Cast(GrainReference reference, Type interfaceType) => throw new NotSupportedException();

    private Call Travel(Call call)
    {
        var buffer = new WireBuffer();
        var writer = new WireWriter(buffer, new WireSession(this));
        call.WriteArguments(ref writer);
        writer.Commit();
        var copy = TypeManifest.FindMethod(call.Method.Id)!.Rent(call.Method.TypeArguments);
        var reader = new WireReader(buffer.Written, new WireSession(this));
        copy.ReadArguments(ref reader);
        Assert.Equal(0, reader.Remaining);
        return copy;
    }
}

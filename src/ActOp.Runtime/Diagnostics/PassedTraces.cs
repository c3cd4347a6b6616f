using System.Buffers.Binary;
using System.Diagnostics;
using ActOp.Calls;
using ActOp.Runtime.Activations;
using ActOp.Wire;

namespace ActOp.Runtime.Diagnostics;

/// <summary>
/// A trace that is passed through turns without their own span: it is not recorded, or there is no listener here. Spans of the application
/// continue it.
/// </summary>
/// <remarks>
/// Created once, where the decision is made or the trace arrives, then shared by all turns of the trace in this process. Never stopped,
/// because the end of its last turn is unknown.
/// </remarks>
internal sealed class PassedTrace : Activity
{
    private const string Name = CallTrace.SourceName + ".Passed";

    /// <param name="origin">What is continued; without ids for a trace of its own.</param>
    /// <param name="isDropped">The trace is not recorded, and no listener is called again.</param>
    internal PassedTrace(ActivityContext origin, bool isDropped)
        : base(Name)
    {
        IsDropped = isDropped;
        IsAllDataRequested = false;
        if (origin.TraceId != default)
            SetParentId(origin.TraceId, origin.SpanId, origin.TraceFlags);
        SetIdFormat(ActivityIdFormat.W3C);
        Flow = Turn.ContextAfter(this, static trace => trace.Start());
    }

    internal bool IsDropped { get; }

    /// <summary>
    /// The execution context that has this trace as the current activity, and nothing else. Restoring it allocates nothing.
    /// </summary>
    internal ExecutionContext Flow { get; }

    /// <summary>The parent of recorded spans: this activity itself is not recorded.</summary>
    internal ActivityContext Origin => new(TraceId, ParentSpanId, ActivityTraceFlags, TraceStateString, isRemote: true);
}

/// <summary>An unrecorded trace without an id: its only content is that no listener is called again.</summary>
internal sealed class UnknownTrace
{
    internal static readonly UnknownTrace Instance = new();

    private static readonly AsyncLocal<UnknownTrace?> Local = new();

    /// <summary>The execution context of such a trace.</summary>
    internal static readonly ExecutionContext Flow = Turn.ContextAfter(Instance, static trace => Local.Value = trace);

    private UnknownTrace()
    {
    }

    internal static bool IsHere => Local.Value is not null;
}

/// <summary>The callee's span of a recorded call while it runs without filters; filters end it themselves.</summary>
internal sealed class RunningSpan(Activity span)
{
    internal void End(Exception? error)
    {
        if (error is not null)
            CallTrace.Fail(span, error);
        CallTrace.End(span);
    }
}

/// <summary>The trace of a request from the wire: at most 25 bytes, parsed only when needed.</summary>
internal sealed class TraceHeader
{
    private const byte RecordedBit = 1;
    private const byte DroppedBit = 64;
    private const byte IdsBit = 128;
    private const int TraceBytes = 16;
    private const int SpanBytes = 8;

    private readonly ulong _traceHigh;
    private readonly ulong _traceLow;
    private readonly ulong _span;
    private readonly byte _bits;

    private TraceHeader(ReadOnlySpan<byte> ids, byte bits)
    {
        _traceHigh = BinaryPrimitives.ReadUInt64BigEndian(ids);
        _traceLow = BinaryPrimitives.ReadUInt64BigEndian(ids[8..]);
        _span = BinaryPrimitives.ReadUInt64BigEndian(ids[TraceBytes..]);
        _bits = bits;
    }

    internal bool IsDropped => (_bits & DroppedBit) != 0;

    internal ActivityContext Context
    {
        get
        {
            Span<byte> ids = stackalloc byte[TraceBytes + SpanBytes];
            CopyTo(ids);
            var flags = (_bits & RecordedBit) != 0 ? ActivityTraceFlags.Recorded : ActivityTraceFlags.None;
            var trace = ActivityTraceId.CreateFromBytes(ids[..TraceBytes]);
            var span = ActivitySpanId.CreateFromBytes(ids[TraceBytes..]);
            return new ActivityContext(trace, span, flags, null, isRemote: true);
        }
    }

    /// <summary>Writes <see cref="Call.Trace"/>.</summary>
    internal static void Write(ref WireWriter writer, object trace)
    {
        if (trace is UnknownTrace)
        {
            writer.WriteByte(DroppedBit);
            return;
        }

        Span<byte> ids = stackalloc byte[TraceBytes + SpanBytes];
        byte bits;
        if (trace is TraceHeader header)
        {
            header.CopyTo(ids);
            bits = header._bits;
        }
        else
        {
            bits = CopyTo(ids, (Activity)trace);
        }

        writer.WriteByte(bits);
        writer.WriteRaw(ids);
    }

    /// <summary>Reads <see cref="Call.Trace"/>.</summary>
    internal static object? Read(ref WireReader reader)
    {
        var bits = reader.ReadByte();
        object? without = (bits & DroppedBit) != 0 ? UnknownTrace.Instance : null;
        if ((bits & IdsBit) == 0)
            return without;
        var header = new TraceHeader(reader.ReadRaw(TraceBytes + SpanBytes), bits);
        return (header._traceHigh | header._traceLow) == 0 ? without : header;
    }

    private static byte CopyTo(Span<byte> ids, Activity activity)
    {
        var passed = activity as PassedTrace;
        activity.TraceId.CopyTo(ids[..TraceBytes]);
        (passed is { IsDropped: false } ? activity.ParentSpanId : activity.SpanId).CopyTo(ids[TraceBytes..]);
        return (byte)(IdsBit | (activity.Recorded ? RecordedBit : 0) | (passed is { IsDropped: true } ? DroppedBit : 0));
    }

    private void CopyTo(Span<byte> ids)
    {
        BinaryPrimitives.WriteUInt64BigEndian(ids, _traceHigh);
        BinaryPrimitives.WriteUInt64BigEndian(ids[8..], _traceLow);
        BinaryPrimitives.WriteUInt64BigEndian(ids[TraceBytes..], _span);
    }
}

using System.Buffers.Binary;
using System.Diagnostics;
using System.Text;
using ActOp.Calls;
using ActOp.Foundation;
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
    /// <param name="baggage">The trace whose baggage goes on, or null.</param>
    internal PassedTrace(ActivityContext origin, bool isDropped, object? baggage = null)
        : base(Name)
    {
        IsDropped = isDropped;
        IsAllDataRequested = false;
        if (origin.TraceId != default)
            SetParentId(origin.TraceId, origin.SpanId, origin.TraceFlags);
        SetIdFormat(ActivityIdFormat.W3C);
        if (origin.TraceState is { } state)
            TraceStateString = state;
        TraceBaggage.Copy(baggage, this);
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

    /// <summary>One for which no listener was asked, see <see cref="RootTraces"/>. On another node it is <see cref="Instance"/>.</summary>
    internal static readonly UnknownTrace Unasked = new();

    private static readonly AsyncLocal<UnknownTrace?> Local = new();

    /// <summary>The execution context of such a trace.</summary>
    internal static readonly ExecutionContext Flow = Turn.ContextAfter(Instance, static trace => Local.Value = trace);

    private UnknownTrace()
    {
    }

    internal static bool IsHere => Local.Value is not null;
}

/// <summary>The callee's span of a recorded call while it runs without filters; filters end it themselves.</summary>
internal sealed class RunningSpan(Activity span, object? caller)
{
    /// <summary>What the call had as its trace: the caller's span if it is in this process.</summary>
    internal object? Caller => caller;

    internal void End(Exception? error)
    {
        if (error is not null)
            CallTrace.Fail(span, error);
        CallTrace.End(span);
    }
}

/// <summary>
/// The trace of a request from the wire: 25 bytes and, if it has any, its state and baggage. Parsed only when needed.
/// </summary>
internal sealed class TraceHeader
{
    private const byte RecordedBit = 1;
    private const byte TextBit = 2;
    private const byte DroppedBit = 64;
    private const byte IdsBit = 128;
    private const int TraceBytes = 16;
    private const int SpanBytes = 8;

    private readonly ulong _traceHigh;
    private readonly ulong _traceLow;
    private readonly ulong _span;
    private readonly byte _bits;
    private readonly byte[] _text;

    private TraceHeader(ReadOnlySpan<byte> ids, byte bits, byte[] text)
    {
        _text = text;
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
            return new ActivityContext(trace, span, flags, TraceBaggage.StateOf(_text), isRemote: true);
        }
    }

    /// <summary>State and baggage as they have arrived; empty if there are none.</summary>
    internal ReadOnlySpan<byte> Text => _text;

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
        ReadOnlySpan<byte> text;
        if (trace is TraceHeader header)
        {
            header.CopyTo(ids);
            bits = header._bits;
            text = header._text;
        }
        else
        {
            bits = CopyTo(ids, (Activity)trace);
            text = TraceBaggage.Write((Activity)trace);
        }

        writer.WriteByte((byte)(bits & ~TextBit | (text.IsEmpty ? 0 : TextBit)));
        writer.WriteRaw(ids);
        if (!text.IsEmpty)
            writer.WriteBytes(text);
    }

    /// <summary>Reads <see cref="Call.Trace"/>.</summary>
    internal static object? Read(ref WireReader reader)
    {
        var bits = reader.ReadByte();
        object? without = (bits & DroppedBit) != 0 ? UnknownTrace.Instance : null;
        if ((bits & IdsBit) == 0)
            return without;
        var ids = reader.ReadRaw(TraceBytes + SpanBytes);
        var text = (bits & TextBit) != 0 ? reader.ReadBytes() : default;
        var header = new TraceHeader(ids, bits, text.Length > TraceBaggage.MostBytes ? [] : text.ToArray());
        return (header._traceHigh | header._traceLow) == 0 ? without : header;
    }

    /// <summary>As <see cref="Write"/>, alone.</summary>
    internal static byte[] ToBytes(object trace)
    {
        var buffer = new WireBuffer();
        var writer = new WireWriter(buffer, new WireSession(null));
        Write(ref writer, trace);
        writer.Commit();
        return buffer.Written.ToArray();
    }

    /// <summary>Reads what <see cref="ToBytes"/> has written; null if it is malformed.</summary>
    internal static object? FromBytes(byte[] bytes)
    {
        try
        {
            var reader = new WireReader(bytes, new WireSession(null));
            return Read(ref reader);
        }
        catch (Orleans.Serialization.SerializerException)
        {
            return null;
        }
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

/// <summary>The W3C trace state and the baggage of a trace, as text of limited size between nodes.</summary>
/// <remarks>Any thread. What is malformed or too long is left out; the call goes on.</remarks>
internal static class TraceBaggage
{
    /// <summary>As much as W3C asks to be passed on.</summary>
    internal const int MostStateBytes = 512;

    /// <inheritdoc cref="MostStateBytes"/>
    internal const int MostBaggageBytes = 8192;

    /// <summary>State, a line feed, and baggage.</summary>
    internal const int MostBytes = MostStateBytes + 1 + MostBaggageBytes;

    private const char Separator = '\n';

    private static readonly DistributedContextPropagator W3C = DistributedContextPropagator.CreateW3CPropagator();

    /// <summary>Gives the activity the baggage of a trace (see <see cref="Call.Trace"/>).</summary>
    internal static void Copy(object? trace, Activity activity)
    {
        // What was added last comes first, and wins. A propagator gives the last one first, see ExtractBaggage.
        var items = trace is TraceHeader { Text.IsEmpty: false } header ? BaggageOf(header.Text)
            : trace is Activity other && other.Baggage.Any() ? other.Baggage.Reverse() : [];
        foreach (var (key, value) in items)
            activity.AddBaggage(key, value);
    }

    /// <summary>The text for another node; empty if the trace has neither state nor baggage.</summary>
    internal static ReadOnlySpan<byte> Write(Activity activity)
    {
        // Most traces have neither.
        if (activity.TraceStateString is not { Length: > 0 } && !activity.Baggage.Any())
            return default;
        var fields = new Fields();
        W3C.Inject(activity, fields, static (carrier, name, value) => ((Fields)carrier!).Set(name, value));
        return fields.ToBytes();
    }

    /// <summary>The trace state in a text from another node; null if there is none, or it is malformed.</summary>
    internal static string? StateOf(ReadOnlySpan<byte> text)
    {
        if (text.IsEmpty)
            return null;
        W3C.ExtractTraceIdAndState(Fields.Parse(text), Get, out _, out var state);
        return state;
    }

    private static IEnumerable<KeyValuePair<string, string?>> BaggageOf(ReadOnlySpan<byte> text) =>
        W3C.ExtractBaggage(Fields.Parse(text), Get) ?? [];

    private static void Get(object? carrier, string name, out string? value, out IEnumerable<string>? values) =>
        (value, values) = (((Fields)carrier!).Get(name), null);

    /// <summary>The fields of the headers of W3C.</summary>
    private sealed class Fields
    {
        /// <summary>The state is read only beside an id. The real ones travel in binary form.</summary>
        private const string AnyParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

        private string? _state;
        private string? _baggage;

        internal static Fields Parse(ReadOnlySpan<byte> text)
        {
            var all = Encoding.UTF8.GetString(text);
            var end = all.IndexOf(Separator, StringComparison.Ordinal);
            var fields = new Fields();
            if (end >= 0)
                (fields._state, fields._baggage) = (all[..end], all[(end + 1)..]);
            return fields;
        }

        internal void Set(string name, string value)
        {
            if (name == "tracestate" && value.Length <= MostStateBytes)
                _state = value;
            else if (name == "baggage" && value.Length <= MostBaggageBytes)
                _baggage = value;
        }

        internal string? Get(string name) => name switch
        {
            "traceparent" => AnyParent,
            "tracestate" => _state,
            "baggage" => _baggage,
            _ => null,
        };

        /// <summary>The propagator writes ASCII only.</summary>
        internal byte[] ToBytes() =>
            string.IsNullOrEmpty(_state) && string.IsNullOrEmpty(_baggage) ? [] : Encoding.UTF8.GetBytes(_state + Separator + _baggage);
    }
}

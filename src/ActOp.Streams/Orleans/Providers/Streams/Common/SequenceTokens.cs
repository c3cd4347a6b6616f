using System.Globalization;
using Orleans.Streams;

namespace Orleans.Providers.Streams.Common;

/// <summary>A position: the number of a batch, and of an item in it. Equal to an <see cref="EventSequenceTokenV2"/> with the same
/// numbers.</summary>
[GenerateSerializer]
public class EventSequenceToken : StreamSequenceToken
{
    /// <summary>Creates the position 0.</summary>
    public EventSequenceToken()
    {
    }

    /// <summary>Creates the position of a batch.</summary>
    public EventSequenceToken(long sequenceNumber)
        : this(sequenceNumber, 0)
    {
    }

    /// <summary>Creates the position of an item.</summary>
    public EventSequenceToken(long sequenceNumber, int eventIndex)
    {
        SequenceNumber = sequenceNumber;
        EventIndex = eventIndex;
    }

    /// <inheritdoc/>
    [Id(0)]
    public override long SequenceNumber { get; protected set; }

    /// <inheritdoc/>
    [Id(1)]
    public override int EventIndex { get; protected set; }

    /// <summary>
    /// Positions of one domain are compared by their numbers. A derived class has one of its own, unless it returns
    /// <see cref="EventSequenceToken"/>.
    /// </summary>
    protected virtual Type SequenceTokenCompatibilityDomain => SequenceTokens.DomainOf(GetType());

    internal Type Domain => SequenceTokenCompatibilityDomain;

    /// <summary>The position of an item in the batch at this position.</summary>
    public EventSequenceToken CreateSequenceTokenForEvent(int eventInd) => new(SequenceNumber, eventInd);

    /// <inheritdoc/>
    public override bool Equals(StreamSequenceToken? other) => SequenceTokens.Equal(this, other);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as StreamSequenceToken);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(SequenceNumber, EventIndex);

    /// <inheritdoc/>
    /// <exception cref="ArgumentOutOfRangeException">The other position is of another kind.</exception>
    public override int CompareTo(StreamSequenceToken? other) => SequenceTokens.Compare(this, other);

    /// <inheritdoc/>
    public override string ToString() => SequenceTokens.Text(this);
}

/// <summary>
/// A position: the number of a batch, and of an item in it. The positions of memory streams. Equal to an <see cref="EventSequenceToken"/>
/// with the same numbers, so code may begin at either.
/// </summary>
[GenerateSerializer]
public class EventSequenceTokenV2 : StreamSequenceToken
{
    /// <summary>Creates the position 0.</summary>
    public EventSequenceTokenV2()
    {
    }

    /// <summary>Creates the position of a batch.</summary>
    public EventSequenceTokenV2(long seqNumber)
        : this(seqNumber, 0)
    {
    }

    /// <summary>Creates the position of an item.</summary>
    public EventSequenceTokenV2(long seqNumber, int eventInd)
    {
        SequenceNumber = seqNumber;
        EventIndex = eventInd;
    }

    /// <inheritdoc/>
    [Id(0)]
    public override long SequenceNumber { get; protected set; }

    /// <inheritdoc/>
    [Id(1)]
    public override int EventIndex { get; protected set; }

    /// <inheritdoc cref="EventSequenceToken.SequenceTokenCompatibilityDomain"/>
    protected virtual Type SequenceTokenCompatibilityDomain => SequenceTokens.DomainOf(GetType());

    internal Type Domain => SequenceTokenCompatibilityDomain;

    /// <summary>The position of an item in the batch at this position.</summary>
    public EventSequenceTokenV2 CreateSequenceTokenForEvent(int eventInd) => new(SequenceNumber, eventInd);

    /// <inheritdoc/>
    public override bool Equals(StreamSequenceToken? other) => SequenceTokens.Equal(this, other);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as StreamSequenceToken);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(SequenceNumber, EventIndex);

    /// <inheritdoc/>
    /// <exception cref="ArgumentOutOfRangeException">The other position is of another kind.</exception>
    public override int CompareTo(StreamSequenceToken? other) => SequenceTokens.Compare(this, other);

    /// <inheritdoc/>
    public override string ToString() => SequenceTokens.Text(this);
}

/// <summary>What both kinds of positions have in common.</summary>
file static class SequenceTokens
{
    internal static Type DomainOf(Type type) =>
        type == typeof(EventSequenceTokenV2) ? typeof(EventSequenceToken) : type;

    internal static bool Equal(StreamSequenceToken left, StreamSequenceToken? right) => right is not null && AreOfOneDomain(left, right)
        && left.SequenceNumber == right.SequenceNumber && left.EventIndex == right.EventIndex;

    internal static int Compare(StreamSequenceToken left, StreamSequenceToken? right)
    {
        if (right is null)
            return 1;
        if (!AreOfOneDomain(left, right))
        {
            throw new ArgumentOutOfRangeException(nameof(right), right, "A " + left.GetType().Name + " cannot be compared with a "
                + right.GetType() + ".");
        }

        var order = left.SequenceNumber.CompareTo(right.SequenceNumber);
        return order != 0 ? order : left.EventIndex.CompareTo(right.EventIndex);
    }

    private static bool AreOfOneDomain(StreamSequenceToken left, StreamSequenceToken right) =>
        DomainOf(left) is { } domain && domain == DomainOf(right);

    private static Type? DomainOf(StreamSequenceToken token) => token switch
    {
        EventSequenceToken one => one.Domain,
        EventSequenceTokenV2 two => two.Domain,
        _ => null,
    };

    internal static string Text(StreamSequenceToken token) => string.Create(
        CultureInfo.InvariantCulture, $"[EventSequenceToken: SeqNum={token.SequenceNumber}, EventIndex={token.EventIndex}]");
}

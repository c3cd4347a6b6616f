using Orleans.Runtime;

namespace Orleans.Streams.Filtering;

/// <summary>
/// Says which items the subscriptions of one provider get. Runs where the agent of the queue is, for each item and subscription.
/// </summary>
public interface IStreamFilter
{
    /// <summary>Whether a subscription gets an item.</summary>
    /// <param name="streamId">The stream.</param>
    /// <param name="item">The item.</param>
    /// <param name="filterData">What was given when the subscription was made.</param>
    bool ShouldDeliver(StreamId streamId, object item, string? filterData);
}

using ActOp.Mesh;
using ActOp.Staging;

namespace ActOp.Runtime.Routing;

/// <summary>A link as an item of its send stage: one run is one write to the socket of all that has gathered.</summary>
internal sealed class LinkSender(Link link, Stage stage) : IStageItem
{
    internal void Schedule() => stage.Post(this);

    public void Execute()
    {
        if (link.Flush() == FlushResult.More)
            stage.Post(this);
    }
}

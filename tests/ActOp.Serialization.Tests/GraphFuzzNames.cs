namespace GraphFuzz;

/// <summary>An aggregate exception whose message does not go on to the inner ones, so that it can be written in any graph.</summary>
public sealed class AggregateToBe10(string message, IEnumerable<Exception> inner) : AggregateException(message, inner)
{
    public override string Message => "a";
}

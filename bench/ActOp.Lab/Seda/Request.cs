namespace ActOp.Lab.Seda;

/// <summary>A request in the emulated server.</summary>
/// <param name="Number">Counted from 0 in the order of arrival.</param>
/// <param name="Arrived">When it came in, in seconds.</param>
internal readonly record struct Request(long Number, double Arrived);
